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
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: guest ## build bin/mcp-workspace
	go build $(BUILDFLAGS) -tags guest_embedded -o bin/ ./cmd/mcp-workspace

# Packed for every architecture before it goes into the main program. The
# command that packs runs here, whatever GOOS and GOARCH the main program is for.
.PHONY: guest
guest: ## build the guest agent that goes into bin/mcp-workspace
	GOOS= GOARCH= go run ./backends/guest/program/pack -release '$(VERSION)'

.PHONY: deps
deps: ## install and start what the tests need (PostgreSQL, container engines, MCP clients)
	@scripts/test-deps.sh

.PHONY: engines-stop
engines-stop: ## end the container engines that the tests started
	@scripts/test-engines.sh stop

.PHONY: test
test: deps ## install what the tests need and run them
	go test -timeout 30m ./...

.PHONY: race
race: ## run the tests with the race detector, but those of whole programs and of containers
	@scripts/test-deps.sh --race --no-engines
	CGO_ENABLED=1 go test -race -short -timeout 30m $$(go list ./... | grep -vE '/(test|examples)/|/backends/docker$$|/runtimes$$')

.PHONY: lint
lint: ## run the pinned golangci-lint
	scripts/lint.sh run

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s)
	@FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

.PHONY: bench
bench: build ## measure start, calls, memory, search and the shell (BENCHFLAGS=-quick)
	@scripts/test-deps.sh --bench --no-engines
	go run ./test/bench -only start,calls,file,tree,shell -server bin/mcp-workspace $(BENCHFLAGS)

.PHONY: bench-docker
bench-docker: build ## measure work in containers beside docker exec, docker run and docker cp
	@scripts/test-deps.sh
	go run ./test/bench -only docker -server bin/mcp-workspace $(BENCHFLAGS)

.PHONY: bench-http
bench-http: build ## measure sessions, calls and fairness of the HTTP server
	go run ./test/bench -only http -server bin/mcp-workspace $(BENCHFLAGS)

.PHONY: cover
cover: deps ## run the tests and write coverage.html
	go test -coverpkg=./... -coverprofile=coverage.out ./...
	go tool cover -html=coverage.out -o coverage.html
	go tool cover -func=coverage.out | tail -1

.PHONY: clean
clean: ## remove what was built and installed here
	rm -rf bin coverage.* .cache backends/guest/program/packed
