FROM python:3.12-slim
RUN ["/bin/sh","-ec","exec 2>&1\nexport PIP_BREAK_SYSTEM_PACKAGES=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore\nexport PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_PROGRESS_BAR=off\npython3 -m pip install -- \"$@\"","pip","pandas","numpy","matplotlib","scikit-learn","seaborn"]
WORKDIR /workspace
