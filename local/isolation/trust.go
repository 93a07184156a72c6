//go:build linux

package isolation

import (
	"bytes"
	"os"
	"slices"
)

// caVariables name CA bundles; each program has its own.
var caVariables = [...]string{
	"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO",
}

// systemBundles are where distributions keep theirs.
var systemBundles = [...]string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
}

// hostCAFiles are the host's bundle and what its variables name, once each.
func hostCAFiles() []string {
	var list []string
	for _, p := range systemBundles {
		if isFile(p) {
			list = append(list, p)
			break
		}
	}
	for _, v := range caVariables {
		p := os.Getenv(v)
		if p != "" && isFile(p) && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// maxBundle bounds one CA file.
const maxBundle = 8 << 20

// hostBundle is one PEM of all of them.
func hostBundle() []byte { return TrustBundle() }

// appendBundle adds a PEM file; one that holds a key is none.
func appendBundle(out *bytes.Buffer, path string) {
	b, err := os.ReadFile(path)
	if err != nil || len(b) > maxBundle || bytes.Contains(b, []byte("PRIVATE KEY")) {
		return
	}
	out.Write(b)
	if !bytes.HasSuffix(b, []byte("\n")) {
		out.WriteByte('\n')
	}
}

// TrustBundle is the bundle of a sandbox that trusts further CA files beside the
// host's own.
func TrustBundle(files ...string) []byte {
	var out bytes.Buffer
	for _, p := range append(hostCAFiles(), files...) {
		appendBundle(&out, p)
	}
	return out.Bytes()
}
