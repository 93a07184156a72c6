package template

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// settings are what the package tools of a build need of this machine's own
// configuration. They are shown to the steps in memory, for the time of the
// build, and are in no layer.
type settings struct {
	// pip and npm are configuration files; they may hold credentials.
	pip, npm []byte
	// links are directories of this machine that pip finds packages in.
	links []string
	// inner are the URLs on this machine's loopback, as they are named inside.
	inner []string
	// bundles are files with further certificates that the tools trust.
	bundles []string
}

// pipKept are the settings of pip that matter inside: where packages are, and how
// patient to be. Its proxy is the business of this machine's side of the network.
var pipKept = [...]string{
	"index-url", "extra-index-url", "find-links", "no-index", "timeout", "retries",
	"only-binary", "no-binary", "prefer-binary", "pre",
	"trusted-host", // after all that name hosts
}

// host reads the configuration of whoever builds. getenv reads the environment.
func hostSettings(getenv func(string) string) *settings {
	h := &hostFiles{getenv: getenv}
	s := &settings{}
	values := h.pip()
	var pip bytes.Buffer
	pip.WriteString("[global]\n")
	for _, name := range pipKept {
		value := values[name]
		switch name {
		case "find-links":
			value = s.takeLinks(value)
		case "index-url", "extra-index-url":
			value = s.takeURLs(value)
		case "trusted-host":
			// pip trusts its own machine unasked.
			if len(s.inner) > 0 {
				value = strings.TrimSpace(value + "\n\t" + loopbackName)
			}
		}
		if value != "" {
			_, _ = fmt.Fprintf(&pip, "%s = %s\n", name, value)
		}
	}
	s.pip = pip.Bytes()
	s.npm = h.npm(s)
	s.trust(values["cert"])
	return s
}

// takeLinks replaces directories of this machine by where they are shown inside.
func (s *settings) takeLinks(value string) string {
	var kept []string
	for _, word := range strings.Fields(value) {
		path := strings.TrimPrefix(word, "file://")
		if !filepath.IsAbs(path) {
			kept = append(kept, s.takeURL(word))
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			kept = append(kept, fmt.Sprintf("%s/%d", linksDir, len(s.links)))
			s.links = append(s.links, path)
		}
	}
	return strings.Join(kept, "\n\t")
}

func (s *settings) trust(path string) {
	if path != "" && !slices.Contains(s.bundles, path) {
		s.bundles = append(s.bundles, path)
	}
}

// hostFiles finds the configuration files.
type hostFiles struct{ getenv func(string) string }

// maxSettings bounds one configuration file.
const maxSettings = 1 << 20

func (h *hostFiles) read(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
		return ""
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

func (h *hostFiles) home(path string) string {
	if home := h.getenv("HOME"); home != "" {
		return filepath.Join(home, path)
	}
	return ""
}

// pip merges its files and variables as pip does: what comes later wins.
func (h *hostFiles) pip() map[string]string {
	config := h.getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = h.home(".config")
	}
	values := map[string]string{}
	files := []string{"/etc/xdg/pip/pip.conf", "/etc/pip.conf", h.home(".pip/pip.conf"), filepath.Join(config, "pip/pip.conf")}
	if venv := h.getenv("VIRTUAL_ENV"); venv != "" {
		files = append(files, filepath.Join(venv, "pip.conf"))
	}
	for _, path := range append(files, h.getenv("PIP_CONFIG_FILE")) {
		if path != "" {
			readPip(h.read(path), values)
		}
	}
	for _, name := range append(pipKept[:], "cert") {
		if v := h.getenv("PIP_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))); v != "" {
			values[name] = strings.Join(strings.Fields(v), "\n\t")
		}
	}
	return values
}

// readPip reads the sections of a pip.conf that an install uses.
func readPip(text string, values map[string]string) {
	section, name := "", ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";"):
		case strings.HasPrefix(trimmed, "["):
			section, name = strings.Trim(trimmed, "[]"), ""
		case section != "global" && section != "install":
		case line[0] == ' ' || line[0] == '\t':
			if name != "" {
				values[name] = strings.TrimSpace(values[name] + "\n\t" + trimmed)
			}
		default:
			if i := strings.IndexAny(trimmed, "=:"); i > 0 {
				name = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(trimmed[:i]), "_", "-"))
				values[name] = strings.TrimSpace(trimmed[i+1:])
			}
		}
	}
}

// npmKept matches the settings of npm that matter inside: registries, and who asks.
var npmKept = regexp.MustCompile(`^(?:(?:@[^:\s]+:)?registry|//\S+:(?:_authToken|_auth|username|_password|email)|_authToken|_auth|always-auth|strict-ssl)$`)

// npm gathers npm's files and variables. Its proxy is the business of this
// machine's side of the network.
func (h *hostFiles) npm(s *settings) []byte {
	var out bytes.Buffer
	files := []string{"/etc/npmrc", "/usr/etc/npmrc", "/usr/local/etc/npmrc", h.home(".npmrc"), h.getenv("NPM_CONFIG_USERCONFIG")}
	for _, path := range files {
		if path == "" {
			continue
		}
		for line := range strings.Lines(h.read(path)) {
			name, value, ok := strings.Cut(line, "=")
			name, value = strings.TrimSpace(name), os.Expand(strings.Trim(strings.TrimSpace(value), `"'`), h.getenv)
			switch {
			case !ok:
			case name == "cafile":
				s.trust(value)
			case npmKept.MatchString(name):
				_, _ = fmt.Fprintf(&out, "%s=%s\n", s.takeKey(name), s.takeURL(value))
			}
		}
	}
	for _, variable := range []string{"npm_config_registry", "NPM_CONFIG_REGISTRY"} {
		if v := h.getenv(variable); v != "" {
			_, _ = fmt.Fprintf(&out, "registry=%s\n", s.takeURL(v))
		}
	}
	s.trust(h.getenv("npm_config_cafile"))
	return out.Bytes()
}

// Where the settings are shown inside: in memory, so that no layer has them.
const (
	shownDir = "/run/build"
	linksDir = "/run/build-links"
)

// environment makes the package tools use the settings and leave no caches.
func (s *settings) environment() map[string]string {
	return map[string]string{
		"PIP_CONFIG_FILE": shownDir + "/pip.conf", "PIP_NO_CACHE_DIR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
		"PIP_NO_INPUT": "1", "PIP_ROOT_USER_ACTION": "ignore", "PIP_PROGRESS_BAR": "off",
		"npm_config_userconfig": shownDir + "/npmrc", "npm_config_cache": "/tmp/npm", "npm_config_update_notifier": "false",
		"npm_config_fund": "false", "npm_config_audit": "false",
		"DEBIAN_FRONTEND": "noninteractive",
	}
}

// write puts the files into the directory that is shown at shownDir.
func (s *settings) write(dir string) error {
	for name, content := range map[string][]byte{"pip.conf": s.pip, "npmrc": s.npm} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
