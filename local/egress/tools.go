package egress

import (
	"archive/zip"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tools reads the settings of the host's package tools: their configuration, and
// where that is silent the default that the installed tool itself carries. So no
// registry is named here, and a tool that is not installed opens nothing.
type tools struct {
	get  func(string) string
	root string
	home string
}

// maxSetting bounds each file read, in bytes.
const maxSetting = 1 << 20

// newTools looks below root, "/" but in tests.
func newTools(env []string, root string) *tools {
	get := getter(env)
	return &tools{get: get, root: root, home: get("HOME")}
}

// endpoints gathers the registries of pip, npm, apt and Go.
func (t *tools) endpoints() endpoints {
	e := endpoints{}
	for _, find := range []func() []string{t.pip, t.npm, t.apt, t.golang} {
		for _, u := range find() {
			e.add(u)
		}
	}
	return e
}

// proxies gives the proxy that a tool uses for its registries, by host:port.
func (t *tools) proxies() map[string]*url.URL {
	all := map[string]*url.URL{}
	for _, tool := range []struct{ registries, proxies func() []string }{
		{t.pip, t.pipProxies},
		{t.npm, t.npmProxies},
		{t.apt, t.aptProxies},
	} {
		e := endpoints{}
		for _, u := range tool.registries() {
			e.add(u)
		}
		for _, raw := range tool.proxies() {
			if proxy := proxyURL(raw); proxy != nil {
				for _, hostport := range e.list() {
					all[hostport] = proxy
				}
				break
			}
		}
	}
	return all
}

// proxyURL reads a proxy setting; nil for words such as DIRECT.
func proxyURL(raw string) *url.URL {
	if !strings.Contains(raw, "://") && strings.Contains(raw, ":") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil
	}
	return u
}

func (t *tools) pipProxies() []string {
	found := []string{t.get("PIP_PROXY")}
	for _, f := range t.pipFiles() {
		found = append(found, captures(proxySetting(), t.read(f))...)
	}
	return found
}

func (t *tools) npmProxies() []string {
	found := []string{t.get("npm_config_https_proxy"), t.get("npm_config_proxy")}
	for _, f := range t.npmFiles() {
		found = append(found, captures(proxySetting(), t.read(f))...)
	}
	return found
}

func (t *tools) aptProxies() []string {
	var found []string
	for _, f := range t.glob("etc/apt/apt.conf", "etc/apt/apt.conf.d/*") {
		found = append(found, captures(aptProxy(), t.read(f))...)
	}
	return found
}

// proxySetting finds proxy and https-proxy in pip.conf and .npmrc.
func proxySetting() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:https-)?proxy\s*[=:]\s*["']?([^"'\s]+)`)
}

func aptProxy() *regexp.Regexp {
	return regexp.MustCompile(`(?mi)^\s*Acquire::https?::Proxy\s+"([^"]+)"`)
}

// read gives the text of a file, "" when there is none.
func (t *tools) read(path string) string {
	f, err := os.Open(filepath.Join(t.root, path))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxSetting))
	if err != nil {
		return ""
	}
	return string(b)
}

// glob expands patterns below root and gives paths relative to it.
func (t *tools) glob(patterns ...string) []string {
	var found []string
	for _, p := range patterns {
		matches, err := filepath.Glob(filepath.Join(t.root, p))
		if err != nil {
			continue
		}
		for _, m := range matches {
			if rel, err := filepath.Rel(t.root, m); err == nil {
				found = append(found, rel)
			}
		}
	}
	return found
}

// which finds the directories of a command's real file, one for each place in PATH.
func (t *tools) which(command string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(t.get("PATH")) {
		real, err := filepath.EvalSymlinks(filepath.Join(t.root, dir, command))
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(t.root, filepath.Dir(real)); err == nil && !slices.Contains(dirs, rel) {
			dirs = append(dirs, rel)
		}
	}
	return dirs
}

// under joins the home directory; without one it gives a path that is not there.
func (t *tools) under(path string) string {
	if t.home == "" {
		return "nowhere"
	}
	return filepath.Join(t.home, path)
}

func (t *tools) golang() []string {
	text := t.read(first(t.get("GOENV"), t.under(".config/go/env")))
	for _, dir := range t.which("go") {
		text += "\n" + t.read(filepath.Join(dir, "../go.env"))
	}
	var urls []string
	for _, name := range []string{"GOPROXY", "GOSUMDB"} {
		value := first(t.get(name), setting(text, name))
		for _, word := range strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(",| ", c) }) {
			switch {
			case strings.Contains(word, "://"):
				urls = append(urls, word)
			case name == "GOSUMDB" && strings.Contains(word, ".") && !strings.Contains(word, "+"):
				urls = append(urls, "https://"+word)
			}
		}
	}
	return urls
}

func aptLine() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*deb(?:-src)?\s+(?:\[[^\]\n]*\]\s+)?(\S+)`)
}

func (t *tools) apt() []string {
	var urls []string
	for _, f := range t.glob("etc/apt/sources.list", "etc/apt/sources.list.d/*.list") {
		for _, m := range aptLine().FindAllStringSubmatch(t.read(f), -1) {
			urls = append(urls, m[1])
		}
	}
	for _, f := range t.glob("etc/apt/sources.list.d/*.sources") {
		urls = append(urls, deb822(t.read(f))...)
	}
	return urls
}

// deb822 gives the URIs of the stanzas that are not switched off.
func deb822(text string) []string {
	var urls []string
	for _, stanza := range regexp.MustCompile(`\n[ \t]*\n`).Split(text, -1) {
		fields, key := map[string]string{}, ""
		for line := range strings.Lines(stanza) {
			name, value, ok := strings.Cut(line, ":")
			switch {
			case strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
				fields[key] += " " + line
			case ok:
				key = strings.ToLower(strings.TrimSpace(name))
				fields[key] = value
			}
		}
		if strings.TrimSpace(strings.ToLower(fields["enabled"])) != "no" {
			urls = append(urls, strings.Fields(fields["uris"])...)
		}
	}
	return urls
}

func npmRegistry() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:@[^:\s]+:)?registry\s*=\s*["']?([^"'\s]+)`)
}

func (t *tools) npmFiles() []string {
	files := []string{"etc/npmrc", "usr/etc/npmrc", "usr/local/etc/npmrc", first(t.get("NPM_CONFIG_USERCONFIG"), t.under(".npmrc"))}
	for _, dir := range t.which("npm") {
		files = append(files, filepath.Join(dir, "../npmrc"))
	}
	return files
}

// npmDefault finds the default in npm's own table of settings.
func npmDefault() *regexp.Regexp {
	return regexp.MustCompile(`(?s)'registry',\s*\{\s*default:\s*'(https?://[^']+)'`)
}

func (t *tools) npm() []string {
	urls := []string{t.get("npm_config_registry"), t.get("NPM_CONFIG_REGISTRY"), t.get("YARN_NPM_REGISTRY_SERVER")}
	var definitions []string
	for _, dir := range t.which("npm") {
		definitions = append(definitions, filepath.Join(dir, "../node_modules/@npmcli/config/lib/definitions/definitions.js"))
	}
	const module = "/@npmcli/config/lib/definitions/definitions.js"
	definitions = append(definitions, t.glob("usr/lib/node_modules/npm/node_modules"+module,
		"usr/local/lib/node_modules/npm/node_modules"+module, "usr/share/nodejs"+module)...)
	for _, f := range t.npmFiles() {
		urls = append(urls, captures(npmRegistry(), t.read(f))...)
	}
	for _, f := range definitions {
		urls = append(urls, captures(npmDefault(), t.read(f))...)
	}
	return urls
}

func pipSetting() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:index[-_]url|extra[-_]index[-_]url|find[-_]links)\s*[=:]\s*((?:\S.*)?(?:\n[ \t]+\S.*)*)`)
}

// pipDefault finds the default index and the host of its files in pip itself.
func pipDefault() *regexp.Regexp {
	return regexp.MustCompile(`PackageIndex\(\s*"(https?://[^"]+)"\s*,\s*file_storage_domain="([^"]+)"`)
}

func (t *tools) pip() []string {
	var urls []string
	for _, name := range []string{"PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX", "UV_EXTRA_INDEX_URL"} {
		urls = append(urls, strings.Fields(t.get(name))...)
	}
	for _, f := range t.pipFiles() {
		for _, value := range captures(pipSetting(), t.read(f)) {
			urls = append(urls, strings.Fields(value)...)
		}
	}
	return append(urls, t.pipDefaults()...)
}

func (t *tools) pipFiles() []string {
	return append(t.glob("etc/pip.conf", "etc/xdg/pip/pip.conf"), first(t.get("PIP_CONFIG_FILE"), "nowhere"), t.under(".pip/pip.conf"),
		t.under(".config/pip/pip.conf"), filepath.Join(first(t.get("VIRTUAL_ENV"), "nowhere"), "pip.conf"))
}

func (t *tools) pipDefaults() []string {
	const module = "pip/_internal/models/index.py"
	patterns := []string{"usr/lib/python3*/dist-packages/" + module, "usr/lib/python3*/site-packages/" + module, "usr/local/lib/python3*/*-packages/" + module}
	for _, dir := range append(t.which("python3"), t.which("pip")...) {
		patterns = append(patterns, filepath.Join(dir, "../lib/python3*/*-packages", module))
	}
	var urls []string
	for _, f := range t.glob(patterns...) {
		urls = append(urls, pipIndex(t.read(f))...)
	}
	if len(urls) > 0 {
		return urls
	}
	for _, wheel := range t.glob("usr/share/python-wheels/pip-*.whl", "usr/lib/python3*/ensurepip/_bundled/pip-*.whl", "usr/local/lib/python3*/ensurepip/_bundled/pip-*.whl") {
		urls = append(urls, pipIndex(unzip(filepath.Join(t.root, wheel), module))...)
	}
	return urls
}

// pipIndex reads the first index that pip's source names: the others are for tests.
func pipIndex(source string) []string {
	m := pipDefault().FindStringSubmatch(source)
	if m == nil {
		return nil
	}
	return []string{m[1], "https://" + m[2]}
}

func unzip(archive, name string) string {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return ""
	}
	defer func() { _ = z.Close() }()
	f, err := z.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxSetting))
	if err != nil {
		return ""
	}
	return string(b)
}

func captures(re *regexp.Regexp, text string) []string {
	var found []string
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// setting finds NAME=value in a file of such lines; the first counts.
func setting(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return value
		}
	}
	return ""
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
