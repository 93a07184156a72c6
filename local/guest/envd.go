//go:build linux

package guest

import "net/http"

// envd is the service of a sandbox: the envd-compatible daemon.
func envd(Inside) (http.Handler, error) {
	return http.NotFoundHandler(), nil
}
