FROM debian:12
WORKDIR /workspace
