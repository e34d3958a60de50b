# Targets for people and for .ci/run. `make help` lists them.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
VERSION_VARIABLE := github.com/mcp-workspace/mcp-workspace/internal/version.release
FUZZTIME ?= 10s
BENCHFLAGS ?=

# The binary needs no C library and holds no path of the machine it was built on.
export CGO_ENABLED ?= 0
BUILDFLAGS := -trimpath -ldflags '-s -w -X $(VERSION_VARIABLE)=$(VERSION)'

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/mcp-workspace
	go build $(BUILDFLAGS) -o bin/ ./cmd/...

.PHONY: deps
deps: ## install what the tests need (PostgreSQL, pinned MCP clients)
	@scripts/test-deps.sh

.PHONY: test
test: deps ## install what the tests need and run them
	go test ./...

.PHONY: race
race: ## run the tests with the race detector
	@scripts/test-deps.sh --race
	CGO_ENABLED=1 go test -race ./...

.PHONY: lint
lint: ## run the pinned golangci-lint
	scripts/lint.sh run

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

.PHONY: bench
bench: ## measure start, calls, memory and search (BENCHFLAGS=-quick)
	@scripts/test-deps.sh --bench
	go run ./test/bench $(BENCHFLAGS)

.PHONY: cover
cover: deps ## run the tests and write coverage.html
	go test -coverpkg=./... -coverprofile=coverage.out ./...
	go tool cover -html=coverage.out -o coverage.html
	go tool cover -func=coverage.out | tail -1

.PHONY: clean
clean: ## remove what was built and installed here
	rm -rf bin coverage.* .cache
