# Node: installed as a user would, from a registry that has our packages alone.

install_npm() {
	own sh -c 'echo "{ \"name\": \"empty\", \"private\": true }" >package.json'
	own npm install --registry "$registry" --no-audit --no-fund --loglevel=error agent-sandbox
	# Nothing but ours, and of the programs the one for this machine.
	expect $'@agent-sandbox/local-linux-x64\nagent-sandbox' installed_packages
	program=$project/node_modules/@agent-sandbox/local-linux-x64/bin/sandboxc
}

installed_packages() { node -p 'Object.keys(JSON.parse(fs.readFileSync("node_modules/.package-lock.json")).packages).map((p) => p.replace("node_modules/", "")).sort().join("\n")'; }

node_program() { # FILE
	install_npm
	cp "$programs"/node/* .
	expect "$hello" own node "$1"
	from_package "$program"
}

node_e2b() {
	install_npm
	cp "$programs"/node/* .
	expect $'hello\n3\nSandboxNotFoundError false' own node e2b.mjs
	expect $'hello\n3' own node e2b.cjs
	from_package "$program"
}

node_cli() {
	install_npm
	expect 42 own npx --offline sandboxc run -- python3 -c 'print(6*7)'
	expect "sandboxc $version" cut_version own npx --offline sandboxc version
}

cut_version() { "$@" | cut -d' ' -f1,2; }

node_read_only() {
	install_npm
	cp "$programs"/node/* .
	chmod -R a-w "$project" "$home"
	chmod -R u+w "$home/state" "$home/tmp"
	expect "$hello" own node main.mjs
	from_package "$program"
}

typescript() {
	install_npm
	cp "$programs/typescript/main.ts" main.mts
	cp main.mts main.cts
	cp main.mts bundled.ts
	compile node16 '["main.mts", "main.cts"]' --moduleResolution node16 --outDir out
	compile esnext '["bundled.ts"]' --moduleResolution bundler --noEmit
	compile esnext '["bundled.ts"]' --moduleResolution bundler --noEmit --verbatimModuleSyntax
	expect $'E3002\nhello' own node out/main.mjs
	expect $'E3002\nhello' own node out/main.cjs
}

# What is published compiles with Node's types alone and with a page's alone,
# nothing skipped; and so does every snippet of the guide.
types_alone() {
	install_npm
	printf "export * %s'\n" "from 'agent-sandbox" "as e2b from 'agent-sandbox/e2b" "as code from 'agent-sandbox/e2b/code-interpreter" >main.mts
	cp main.mts main.cts
	local node=(--moduleResolution node16 --noEmit --exactOptionalPropertyTypes false)
	compile node16 '["main.mts", "main.cts"]' "${node[@]}" --lib es2022,dom
	node+=(--lib es2022 --typeRoots "$tools/node_modules/@types" --types node)
	compile node16 '["main.mts", "main.cts"]' "${node[@]}"
	compile node16 "$(node "$house/snippets.mjs" "$root/docs/javascript.md" .)" "${node[@]}"
}

compile() { # MODULE FILES OPTION...
	local module=$1
	printf '{ "extends": "%s/typescript/tsconfig.json", "files": %s }\n' "$programs" "$2" >tsconfig.json
	shift 2
	own "$tools/node_modules/.bin/tsc" -p . --module "$module" "$@"
}

# What is published has no line for development, and nothing to install with it.
npm_contents() {
	tar -xzf "$dist/agent-sandbox-$version.tgz"
	node -e '
		const manifest = JSON.parse(fs.readFileSync("package/package.json"))
		for (const key of ["dependencies", "devDependencies", "scripts", "private", "imports"]) if (key in manifest) throw new Error(key)
		const names = Object.keys(manifest.optionalDependencies)
		if (names.join() !== "@agent-sandbox/local-linux-x64,@agent-sandbox/local-linux-arm64") throw new Error(names)'
	[ -z "$(find package -name node_modules -o -name '*.test.*' -o -name 'src')" ]
	[ -s package/dist/core.wasm ] && [ -s package/LICENSE ] && [ -s package/README.md ]
	lacks "$root" package
}

cases_node() {
	case_ node-esm "$(id -u)" node_program main.mjs
	case_ node-cjs "$(id -u)" node_program main.cjs
	case_ node-e2b "$(id -u)" node_e2b
	case_ node-cli "$(id -u)" node_cli
	case_ node-esm-ordinary-user $ordinary node_program main.mjs
	case_ node-read-only $ordinary node_read_only
	case_ typescript "$(id -u)" typescript
	case_ types-alone "$(id -u)" types_alone
	case_ npm-contents "$(id -u)" npm_contents
}
