FROM base:1
ARG NPM_CONFIG_REGISTRY
ARG PIP_INDEX_URL
ENV A="\"\$x\" \\"
ENV B="b"
ENV C="c"
RUN ["/bin/sh","-ec","exec 2>&1\nexport DEBIAN_FRONTEND=noninteractive\napt-get -o APT::Update::Error-Mode=any update\napt-get install --yes --no-install-recommends -- \"$@\"\napt-get clean\nrm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log /var/log/alternatives.log","apt","git","g++=4:12.2.0-3"]
RUN ["/bin/sh","-ec","exec 2>&1\napk add --no-cache -- \"$@\"","apk","git>=2"]
RUN ["/bin/sh","-ec","exec 2>&1\nexport PIP_BREAK_SYSTEM_PACKAGES=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore\nexport PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_PROGRESS_BAR=off\npython3 -m pip install -- \"$@\"","pip","pandas[excel]>=2,<3","six"]
RUN ["/bin/sh","-ec","exec 2>&1\nscratch=$(mktemp -d)\nCARGO_HOME=$scratch/home CARGO_TARGET_DIR=$scratch/target cargo install --locked --root /usr/local -- \"$@\"\nrm -rf \"$scratch\"","cargo","ripgrep@14.1.0"]
WORKDIR /work
RUN ["/bin/sh","-ec","exec 2>&1\nscratch=$(mktemp -d)\nnpm_config_cache=$scratch npm install --no-audit --no-fund --no-update-notifier -- \"$@\"\nchmod -R a+rwX node_modules package*.json\nrm -rf \"$scratch\"","npm","vite","@types/react@^18"]
ENV PATH="/work/node_modules/.bin:${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"
RUN ["/bin/sh","-ec","exec 2>&1\necho one"]
RUN ["/bin/sh","-ec","exec 2>&1\necho \"two\"\necho 'three' <&0 && true \\\n"]
