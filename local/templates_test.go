//go:build linux

package local

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/template"
)

func TestTemplatesThatAreNotThereSayWhatToDo(t *testing.T) {
	c, s := newReal(t)
	c.requireFault(c.do("POST", "/v2/sandboxes", `{"templateID":"nothing"}`), http.StatusNotFound, "template 'nothing' not found")
	for _, path := range []string{"/templates/code-interpreter-v1", "/templates/aliases/code-interpreter-v1"} {
		c.requireFault(c.do("GET", path, ""), http.StatusNotFound, "sandboxc template build code-interpreter-v1")
	}
	f := c.requireFault(c.do("POST", "/v2/sandboxes", `{"templateID":"Code-Interpreter-v1:default"}`), http.StatusNotFound, "has not been built on this machine")
	require.Contains(t, f.Message, "sandboxc template build code-interpreter-v1")
	require.Empty(t, s.members.all())
}

func TestTemplatesThatWereBuilt(t *testing.T) {
	c, s := newReal(t)
	build := func(script string) {
		_, err := s.built.Build(t.Context(), template.Recipe{
			Name: "mine", Description: "of my own", Env: map[string]string{"COLOUR": "blue", "SIZE": "large"},
			Steps: []template.Step{{Run: script}},
		}, template.Options{StateDir: s.opt.StateDir})
		require.NoError(t, err)
	}
	build("echo old > /opt/age")
	var rows []api.Template
	c.do("GET", "/templates", "").into(t, &rows)
	last := rows[len(rows)-1]
	require.Equal(t, "mine of my own", last.TemplateID+" "+last.Description)
	require.False(t, last.CreatedAt.IsZero())

	old := c.create(`{"templateID":"mine","envVars":{"SIZE":"small"}}`)
	require.Equal(t, "old blue small\n", c.run(old, `echo $(cat /opt/age) $COLOUR $SIZE`))
	build("echo new > /opt/age")
	require.Equal(t, "new\n", c.run(c.create(`{"templateID":"mine"}`), "cat /opt/age"))
	require.Equal(t, "old\n", c.run(old, "cat /opt/age"), "it keeps the template that it was made from")

	key, err := s.PageKey("https://page.example")
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, c.do("DELETE", "/templates/mine", "", "X-API-Key", key, "Origin", "https://page.example").status)
	require.Equal(t, http.StatusNoContent, c.do("DELETE", "/templates/mine", "").status)
	c.requireFault(c.do("DELETE", "/templates/mine", ""), http.StatusNotFound, "not found")
	c.requireFault(c.do("POST", "/v2/sandboxes", `{"templateID":"mine"}`), http.StatusNotFound, "not found")
	c.requireFault(c.do("DELETE", "/templates/base", ""), http.StatusNotImplemented, "cannot delete")
	require.Equal(t, "old\n", c.run(old, "cat /opt/age"))
}
