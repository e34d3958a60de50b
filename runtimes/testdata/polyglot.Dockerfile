FROM python:3.12-slim
RUN ["/bin/sh","-ec","exec 2>&1\nexport DEBIAN_FRONTEND=noninteractive\napt-get -o APT::Update::Error-Mode=any update\napt-get install --yes --no-install-recommends -- \"$@\"\napt-get clean\nrm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/log/apt /var/log/dpkg.log /var/log/alternatives.log","apt","ca-certificates","curl","git","nodejs","npm"]
RUN ["/bin/sh","-ec","exec 2>&1\nexport PIP_BREAK_SYSTEM_PACKAGES=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore\nexport PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_PROGRESS_BAR=off\npython3 -m pip install -- \"$@\"","pip","numpy","duckdb","polars","httpx"]
WORKDIR /workspace
