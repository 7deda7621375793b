package app

import "vault/app/settings"

// The settings of the roles. A key means the same in every role that has it.
var (
	keyLogFormat = settings.Key{Name: "log_format", Default: "json", Usage: "format of the log: json or text"}
	keyLogLevel  = settings.Key{Name: "log_level", Default: "info", Usage: "least level that is logged: debug, info, warn or error"}
	keyAdmin     = settings.Key{Name: "admin_listen", Default: "127.0.0.1:9484", Usage: "address of /healthz, /readyz and /metrics"}
	keyGitHub    = settings.Key{Name: "github_url", Default: "https://github.com", Usage: "GitHub's web address; a GitHub Enterprise host works too"}
	keyControl   = settings.Key{Name: "control_dsn", Usage: "address of the control database", Secret: true}
	keyListen    = settings.Key{Name: "listen", Default: "127.0.0.1:8484", Usage: "address to listen on"}

	keyPublicURL = settings.Key{Name: "public_url", Usage: "address that clients use, without a path, such as https://vault.example"}
	keyRing      = settings.Key{Name: "key_ring", Usage: "the ring of master keys, in YAML", Secret: true}
	keyWebhook   = settings.Key{Name: "webhook_secret", Usage: "the secret that GitHub signs deliveries with", Secret: true}
	keyInstances = settings.Key{Name: "instance_url", Usage: "address of an installation's instance; {id} stands for the installation's id"}
	keyHosts     = settings.Key{Name: "hosts", Usage: "Host headers that are answered, separated by commas; by default that of public_url"}
	keyOrigins   = settings.Key{Name: "origins", Usage: "web origins that may call from a browser, separated by commas"}

	keyInstallation = settings.Key{Name: "installation", Usage: "GitHub's id of the installation that is served"}
	keyDatabase     = settings.Key{Name: "database_dsn", Usage: "address of the installation's database", Secret: true}
	keyLink         = settings.Key{Name: "link_key", Usage: "the keys that a front may show, separated by commas", Secret: true}

	keyDatabases = settings.Key{Name: "installation_dsn", Usage: "address of installations' databases; {id} stands for the installation's id", Secret: true}
	keyAppID     = settings.Key{Name: "app_id", Usage: "id or client id of the GitHub App"}
	keyAppKey    = settings.Key{Name: "app_key", Usage: "the App's private key, in PEM", Secret: true}
	keyMirrors   = settings.Key{Name: "mirrors", Default: "mirrors", Usage: "folder for bare copies of repositories; it may be lost at any time"}
	keyWorkers   = settings.Key{Name: "workers", Default: "2", Usage: "how many jobs of a kind run at once"}
)

// common are the keys that every role has.
var common = []settings.Key{keyLogFormat, keyLogLevel, keyAdmin}
