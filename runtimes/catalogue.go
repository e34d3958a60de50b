package runtimes

import (
	"cmp"
	"slices"
)

// The public images of the catalogue.
const (
	pythonImage = "python:3.12-slim"
	nodeImage   = "node:20-slim"
)

// Where a runtime's language is used to being, as its images and tools expect.
const (
	jsDir       = "/app"
	compiledDir = "/src"
)

// Catalogue returns the runtimes that come with the program, sorted by name:
// those of pydantic-ai-backend, under the same names, with the same images and
// packages. The result is the caller's own.
func Catalogue() Set {
	set := Set{
		{
			Name: "python-minimal", Description: "Python 3.12 and its standard library",
			Image: pythonImage, WorkingDir: DefaultWorkingDir,
		},
		{
			Name: "python-datascience", Description: "Python with pandas, numpy, matplotlib, scikit-learn, seaborn",
			Base: pythonImage, Packages: Packages{Pip: []string{"pandas", "numpy", "matplotlib", "scikit-learn", "seaborn"}},
		},
		{
			Name: "python-analytics", Description: "Python with DuckDB, Polars, PyArrow, for large data in little memory",
			Base: pythonImage, Packages: Packages{Pip: []string{"duckdb", "polars", "pyarrow"}},
		},
		{
			Name: "python-web", Description: "Python with FastAPI, Uvicorn, SQLAlchemy, HTTPX",
			Base: pythonImage, Packages: Packages{Pip: []string{"fastapi", "uvicorn", "sqlalchemy", "httpx"}},
		},
		{
			Name: "python-scraping", Description: "Python with HTTPX, Beautiful Soup, lxml, markdownify",
			Base: pythonImage, Packages: Packages{Pip: []string{"httpx", "beautifulsoup4", "lxml", "markdownify"}},
		},
		{
			Name: "python-documents", Description: "Python with pypdf, python-docx, openpyxl, Pillow",
			Base: pythonImage, Packages: Packages{Pip: []string{"pypdf", "python-docx", "openpyxl", "pillow"}},
		},
		{
			Name: "coding", Description: "Python with git, ripgrep, fd, jq, uv, to work on code",
			Base: pythonImage,
			Packages: Packages{
				Apt: []string{"ca-certificates", "curl", "fd-find", "git", "jq", "less", "procps", "ripgrep"},
				Pip: []string{"uv"},
			},
			// Debian calls the program fdfind; its manual and everybody else say fd.
			Setup: []string{"ln -s /usr/bin/fdfind /usr/local/bin/fd"},
		},
		{
			Name: "polyglot", Description: "Python and Node.js together, with numpy, DuckDB, Polars, HTTPX, git, curl",
			Base: pythonImage,
			Packages: Packages{
				Apt: []string{"ca-certificates", "curl", "git", "nodejs", "npm"},
				Pip: []string{"numpy", "duckdb", "polars", "httpx"},
			},
		},
		{
			Name: "node-minimal", Description: "Node.js 20",
			Image: nodeImage, WorkingDir: jsDir,
		},
		{
			Name: "node-typescript", Description: "Node.js 20 with TypeScript, tsx, Vitest",
			Base: nodeImage, Packages: Packages{Npm: []string{"typescript", "tsx", "vitest"}}, WorkingDir: jsDir,
		},
		{
			Name: "node-react", Description: "Node.js 20 with TypeScript, Vite, React",
			Base: nodeImage, Packages: Packages{Npm: []string{"typescript", "vite", "react", "react-dom", "@types/react"}}, WorkingDir: jsDir,
		},
		{
			Name: "bun", Description: "Bun: JavaScript and TypeScript with its own bundler, test runner, package manager",
			Image: "oven/bun:1-slim", WorkingDir: jsDir,
		},
		{
			Name: "deno", Description: "Deno: TypeScript without an install step",
			Image: "denoland/deno:alpine", WorkingDir: jsDir,
		},
		{
			Name: "go", Description: "Go 1.23",
			Image: "golang:1.23-alpine", WorkingDir: compiledDir,
		},
		{
			Name: "rust", Description: "Rust with cargo",
			Image: "rust:1-slim", WorkingDir: compiledDir,
		},
	}
	slices.SortFunc(set, func(a, b *Runtime) int { return cmp.Compare(a.Name, b.Name) })
	return set
}
