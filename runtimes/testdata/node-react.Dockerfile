FROM node:20-slim
WORKDIR /app
RUN ["/bin/sh","-ec","exec 2>&1\nscratch=$(mktemp -d)\nnpm_config_cache=$scratch npm install --no-audit --no-fund --no-update-notifier -- \"$@\"\nchmod -R a+rwX node_modules package*.json\nrm -rf \"$scratch\"","npm","typescript","vite","react","react-dom","@types/react"]
ENV PATH="/app/node_modules/.bin:${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"
