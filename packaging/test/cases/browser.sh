# Pages, bundled and not, in Chromium; and a bundle for a place that is neither.

page_project() { # NAME
	install_npm
	cp -r "$programs/$1"/. "$programs/page"/*.js .
}

open_page() { # DIR
	expect 'hello 0,255,10' own node "$tools/browse.mjs" "$project/$1" "$program"
	from_package "$program"
}

vite_page() {
	page_project vite
	mv page.js show.js src/
	own node "$tools/node_modules/vite/bin/vite.js" build --logLevel error
	open_page dist
}

# A development server moves what is installed into a folder of its own.
vite_development() {
	page_project vite
	mv page.js show.js src/
	chown -R "$(id -u)" .
	beside node "$tools/node_modules/vite/bin/vite.js" --host 127.0.0.1 --port 0 --strictPort --clearScreen false >vite.log 2>&1
	local origin=
	for _ in $(seq 100); do
		origin=$(sed 's/\x1b\[[0-9;]*m//g' vite.log | grep -o 'http://127.0.0.1:[0-9]*' | head -n 1) && break
		sleep 0.1
	done
	expect 'hello 0,255,10' own node "$tools/browse.mjs" "$origin" "$program"
	from_package "$program"
}

esbuild_page() {
	page_project esbuild
	own "$tools/node_modules/.bin/esbuild" main.js --bundle --minify --format=esm --outfile=out/main.js --log-level=warning
	cp index.html node_modules/agent-sandbox/dist/core.wasm out/
	open_page out
}

worker_page() {
	page_project worker
	open_page .
}

edge() {
	page_project edge
	own "$tools/node_modules/.bin/esbuild" main.js --bundle --format=iife --platform=neutral --conditions=workerd --outfile=bundle.js --log-level=error
	lacks 'require\(|["'"'"']node:|import\.meta' bundle.js
	local url key
	url=$(own "$program" serve --detach | grep -o 'http[^ ]*')
	key=$(own "$program" env | sed -n "s/.*E2B_API_KEY='\(.*\)'/\1/p")
	expect 'hello 0,255,10' own node "$programs/edge/run.mjs" bundle.js node_modules/agent-sandbox/dist/core.wasm "$key" "$url"
	from_package "$program"
}

cases_browser() {
	case_ vite-in-chromium "$(id -u)" vite_page
	case_ vite-development-in-chromium "$(id -u)" vite_development
	case_ esbuild-in-chromium "$(id -u)" esbuild_page
	case_ worker-in-chromium "$(id -u)" worker_page
	case_ edge-bundle "$(id -u)" edge
}
