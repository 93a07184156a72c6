package native

import "net/http"

// HTTPClient is an ordinary HTTP client for the ports of sandboxes: with the
// same proxy and authorities as every call, and names below localhost connect to
// this machine. It carries no credential.
func (c *Client) HTTPClient() *http.Client { return &http.Client{Transport: c.host.http} }
