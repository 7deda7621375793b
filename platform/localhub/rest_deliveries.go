package localhub

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// listDeliveries lists the App's webhook deliveries, newest first, by cursor.
func (h *Hub) listDeliveries(x *exchange) (any, error) {
	all := h.Deliveries()
	query := x.r.URL.Query()
	if cursor, err := strconv.ParseInt(query.Get("cursor"), 10, 64); err == nil {
		all = slices.DeleteFunc(all, func(d Delivery) bool { return d.ID > cursor })
	}
	if status := query.Get("status"); status != "" {
		all = slices.DeleteFunc(all, func(d Delivery) bool { return (d.Status == "OK") != (status == "success") })
	}
	size := pageOf(x.r, 30).size
	if len(all) > size {
		query.Set("cursor", strconv.FormatInt(all[size].ID, 10))
		x.w.Header().Set("Link", "<"+h.api("/app/hook/deliveries")+"?"+query.Encode()+`>; rel="next"`)
		all = all[:size]
	}
	out := make([]object, len(all))
	for i, d := range all {
		out[i] = h.deliveryShape(d)
	}
	return out, nil
}

func (h *Hub) deliveryShape(d Delivery) object {
	o := object{
		"id": d.ID, "guid": d.GUID, "delivered_at": d.At.UTC(), "redelivery": d.Redelivery,
		"duration": d.Duration.Seconds(), "status": statusOf(d), "status_code": d.StatusCode,
		"event": d.Event, "action": nil, "installation_id": h.InstallationID(), "repository_id": nil,
		"throttled_at": nil, "url": h.config.WebhookURL,
	}
	if d.Action != "" {
		o["action"] = d.Action
	}
	if d.RepositoryID != 0 {
		o["repository_id"] = d.RepositoryID
	}
	return o
}

func (h *Hub) getDelivery(x *exchange) (any, error) {
	id, err := strconv.ParseInt(x.r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, errNotFound()
	}
	for _, d := range h.Deliveries() {
		if d.ID != id {
			continue
		}
		o := h.deliveryShape(d)
		o["request"] = object{"headers": object{"X-GitHub-Event": d.Event, "X-GitHub-Delivery": d.GUID}, "payload": json.RawMessage("null")}
		if d.Payload != nil {
			o["request"].(object)["payload"] = json.RawMessage(d.Payload)
		}
		o["response"] = object{"headers": nil, "payload": nil}
		return o, nil
	}
	return nil, errNotFound()
}

func (h *Hub) redeliver(x *exchange) (any, error) {
	id, err := strconv.ParseInt(x.r.PathValue("id"), 10, 64)
	if err != nil || !h.hooks.redeliver(id) {
		return nil, errNotFound()
	}
	h.writeJSON(x.w, http.StatusAccepted, object{})
	return nil, nil
}
