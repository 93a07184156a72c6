# Every target works on a fresh machine: it installs what it needs below .tmp/.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

TOOLS := $(CURDIR)/.tmp/bin
GOLANGCI_VERSION := v2.15.0
GOFUMPT_VERSION := v0.12.0

.PHONY: help
help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort | column -ts $$'\t'

.PHONY: build
build: ## Build sandboxc into bin/
	go build -o bin/sandboxc ./cmd/sandboxc

.PHONY: wasm
wasm: ## Build the core as WebAssembly: .tmp/core.wasm
	@scripts/build-wasm .tmp/core.wasm

.PHONY: test
test: needs generate-check $(if $(CI),lint) examples ## Run every test (counts reduced; see soak); with CI set, the linters too
	@scripts/test

.PHONY: soak
soak: needs ## Run the tests at full counts
	SOAK=1 scripts/test

.PHONY: needs
needs: ## Install what the tests need and the machine lacks
	@scripts/needs

.PHONY: lint
lint: $(TOOLS)/golangci-lint $(TOOLS)/gofumpt ## Formatters and linters, no warnings
	@out=$$($(TOOLS)/gofumpt -l $$(git ls-files '*.go' | grep -v /pb/)); if [ -n "$$out" ]; then echo "gofumpt:" $$out; exit 1; fi
	$(TOOLS)/golangci-lint run ./...
	GOOS=darwin go vet ./core/... ./native/... ./cmd/...
	@scripts/js-tools
	@scripts/python-tools
	npm run --silent --prefix bindings/js lint
	bindings/python/lint
	.tmp/python/bin/python -m ruff check --quiet --config bindings/python/pyproject.toml packaging bench
	bindings/js/node_modules/.bin/biome check --config-path=bindings/js packaging bench/hosts

OUT ?= dist

.PHONY: wheel
wheel: ## Build the Python packages into OUT (default dist/)
	@scripts/wheel $(OUT)

.PHONY: npm-pack
npm-pack: ## Build the npm packages into OUT (default dist/)
	@scripts/npm-pack $(OUT)

.PHONY: bench
bench: needs build ## Measure; the figures of docs/performance.md
	@scripts/bench

.PHONY: demo
demo: build ## Run one command in a real sandbox
	bin/sandboxc run -- python3 -c 'print(6*7)'

.PHONY: examples
examples: build ## Run every example
	@scripts/examples

.PHONY: generate
generate: ## Write generated code again
	go generate ./...

.PHONY: generate-check
generate-check: ## Fail when generated code is not what its sources give
	@scripts/generate-check

$(TOOLS)/golangci-lint:
	GOBIN=$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

$(TOOLS)/gofumpt:
	GOBIN=$(TOOLS) go install mvdan.cc/gofumpt@$(GOFUMPT_VERSION)
