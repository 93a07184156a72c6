//go:build linux

package local

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/access"
	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
	"github.com/agent-sandbox/agent-sandbox/local/template"
)

// findTemplate resolves the name of a template.
func (s *Server) findTemplate(ref string) (isolation.Template, error) {
	for _, t := range s.engine.Templates() {
		if named(t, ref) {
			return t, nil
		}
	}
	return isolation.Template{}, s.templateNotFound(ref)
}

// templateNotFound says what to do where a build would mend it.
func (s *Server) templateNotFound(ref string) *api.Fault {
	name := api.TemplateName(ref)
	if s.built != nil {
		if _, err := s.built.Get(name); err == nil {
			return api.Faultf(http.StatusNotFound,
				"template '%s' was built for another Python or another user than this server's: build it again with  sandboxc template build %s", name, name)
		}
	}
	if _, ok := template.Shipped(name); ok {
		return api.Faultf(http.StatusNotFound,
			"template '%s' has not been built on this machine: build it, once, with  sandboxc template build %s", name, name)
	}
	f := api.Faultf(http.StatusNotFound, "template '%s' not found", strings.TrimSpace(ref))
	for _, t := range s.engine.Templates() {
		f.Known = append(f.Known, t.ID)
	}
	return f
}

// named reports whether ref names t.
func named(t isolation.Template, ref string) bool {
	name := api.TemplateName(ref)
	return name == t.ID || slices.Contains(t.Aliases, name)
}

func (s *Server) listTemplates(w http.ResponseWriter, _ *http.Request) error {
	list := []api.Template{}
	for _, t := range s.engine.Templates() {
		list = append(list, s.templateRow(t))
	}
	api.WriteJSON(w, http.StatusOK, list)
	return nil
}

// templateRow is a template as lists show it. Those that are made of the machine
// itself are as old as the server's start.
func (s *Server) templateRow(t isolation.Template) api.Template {
	made := t.Built
	if made.IsZero() {
		made = s.began
	}
	return api.Template{
		TemplateID: t.ID, BuildID: t.ID, CPUCount: isolation.DefaultCPUs, MemoryMB: isolation.DefaultMemoryMB,
		DiskSizeMB: isolation.DefaultDiskMB, Public: true, Aliases: append([]string{t.ID}, t.Aliases...),
		Names: []string{t.ID}, Description: t.Description, CreatedAt: made, UpdatedAt: made,
		BuildCount: 1, EnvdVersion: api.EnvdVersion, BuildStatus: "ready", IsDefault: true,
	}
}

func (s *Server) templateAlias(w http.ResponseWriter, r *http.Request) error {
	t, err := s.findTemplate(r.PathValue("alias"))
	if err != nil {
		return err
	}
	api.WriteJSON(w, http.StatusOK, api.TemplateAlias{TemplateID: t.ID, Public: true})
	return nil
}

func (s *Server) templateDetail(w http.ResponseWriter, r *http.Request) error {
	t, err := s.findTemplate(r.PathValue("id"))
	if err != nil {
		return err
	}
	type build struct {
		BuildID     string    `json:"buildID"`
		Status      string    `json:"status"`
		CreatedAt   time.Time `json:"createdAt"`
		UpdatedAt   time.Time `json:"updatedAt"`
		CPUCount    int       `json:"cpuCount"`
		MemoryMB    int       `json:"memoryMB"`
		EnvdVersion string    `json:"envdVersion"`
	}
	row := s.templateRow(t)
	api.WriteJSON(w, http.StatusOK, struct {
		api.Template
		Builds []build `json:"builds"`
	}{row, []build{{row.BuildID, row.BuildStatus, row.CreatedAt, row.UpdatedAt, row.CPUCount, row.MemoryMB, row.EnvdVersion}}})
	return nil
}

// deleteTemplate also serves for snapshots, of which there are none: only a
// 404 tells a client that nothing was deleted.
func (s *Server) deleteTemplate(w http.ResponseWriter, r *http.Request) error {
	t, err := s.findTemplate(r.PathValue("id"))
	switch {
	case err != nil:
		return err
	case t.Built.IsZero():
		return api.Unsupported("cannot delete a template that it is made of")
	case grantOf(r) != access.Owner:
		return api.Faultf(http.StatusForbidden, "the key of a page may not delete templates")
	}
	if err := s.built.Remove(t.ID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
