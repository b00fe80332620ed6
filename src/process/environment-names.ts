/**
 * Variables of this process that a program inherits if a file of the workspace configures the program. A trailing `*`
 * matches any ending.
 */
// biome-ignore format: with one name per line, the groups would be lost
export const INHERITED_NAMES: readonly string[] = [
  'PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_*', 'TERM', 'TZ', 'TMPDIR',
  // Windows programs fail to start without these.
  'PATHEXT', 'SystemRoot', 'SystemDrive', 'windir', 'ComSpec', 'TEMP', 'TMP', 'USERPROFILE', 'USERNAME',
  'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'ProgramData', 'ProgramFiles', 'ProgramFiles(x86)',
  'NUMBER_OF_PROCESSORS', 'PROCESSOR_ARCHITECTURE', 'OS',
];

/**
 * Variables that can make a process run different code. No configuration may set them. A trailing `*` matches any
 * ending.
 */
// biome-ignore format: with one name per line, the groups would be lost
export const REFUSED_NAMES: readonly string[] = [
  'PATH', 'PATHEXT', 'ComSpec', 'IFS',
  // Read by the dynamic linker and the C library.
  'LD_*', 'DYLD_*', 'GCONV_PATH', 'GLIBC_TUNABLES', 'LOCPATH', 'NLSPATH', 'HOSTALIASES', 'RESOLV_HOST_CONF',
  // Read by shells.
  'BASH_ENV', 'BASH_FUNC_*', 'BASHOPTS', 'SHELLOPTS', 'ENV', 'ZDOTDIR', 'FPATH', 'PROMPT_COMMAND', 'PS4', 'CDPATH',
  // Read by language interpreters.
  'NODE_OPTIONS', 'NODE_PATH', 'NODE_REPL_EXTERNAL_MODULE', 'BUN_*', 'DENO_*', 'NPM_CONFIG_*',
  'PYTHONPATH', 'PYTHONSTARTUP', 'PYTHONHOME', 'PYTHONINSPECT', 'PYTHONUSERBASE', 'PYTHONBREAKPOINT',
  'PYTHONWARNINGS', 'PYTHONEXECUTABLE', 'PYTHONPLATLIBDIR', 'PYTHONPYCACHEPREFIX',
  'PERL5*', 'PERLLIB', 'RUBYOPT', 'RUBYLIB', 'GEM_*', 'BUNDLE_*', 'PHPRC', 'PHP_INI_SCAN_DIR',
  'LUA_INIT*', 'LUA_PATH*', 'LUA_CPATH*', 'JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'CLASSPATH',
  'DOTNET_STARTUP_HOOKS', 'DOTNET_ROOT*', 'DOTNET_ADDITIONAL_DEPS', 'DOTNET_SHARED_STORE', 'CORECLR_*', 'COR_*',
  'R_PROFILE*', 'R_ENVIRON*', 'JULIA_*', 'ERL_*', 'GUILE_*', 'TCLLIBPATH', 'CARGO_*', 'RUSTC*', 'GOFLAGS',
  // Read by programs that run or load the file that the variable names.
  'GIT_*', 'SSH_ASKPASS*', 'SUDO_ASKPASS', 'EDITOR', 'VISUAL', 'PAGER', 'LESSOPEN', 'LESSCLOSE', 'BROWSER',
  'OPENSSL_CONF', 'OPENSSL_MODULES', 'OPENSSL_ENGINES', 'MAKEFLAGS', 'MAKEFILES', 'GNUMAKEFLAGS', 'TAR_OPTIONS',
  'SHELL', 'MANPAGER', 'SYSTEMD_PAGER', 'RSYNC_RSH', 'SVN_SSH', 'HGRCPATH', 'KUBECONFIG', 'NODE_COMPILE_CACHE',
  'RIPGREP_CONFIG_PATH', 'WGETRC', 'CURL_HOME', 'VIMINIT', 'EXINIT', 'AWKPATH', 'AWKLIBPATH',
  // Read by version managers to choose an interpreter, and by package managers to choose a package source.
  'PYENV_*', 'RBENV_*', 'NODENV_*', 'ASDF_*', 'MISE_*', 'VOLTA_*', 'JAVA_HOME', 'CLOUDSDK_PYTHON*', 'COREPACK_*',
  'YARN_*', 'PIP_*', 'UV_INDEX*', 'UV_DEFAULT_INDEX', 'UV_EXTRA_INDEX_URL', 'UV_FIND_LINKS', 'UV_CONFIG_FILE',
  'UV_PYTHON*', 'PYTHON_PRESITE', 'PSModulePath', 'SystemRoot', 'windir', 'LESS', 'MAVEN_OPTS', 'GRADLE_OPTS',
  'BASH_LOADABLES_PATH', 'PYTEST_ADDOPTS', 'PYTEST_PLUGINS', 'TS_NODE_*',
  // Directories where shells, git and other programs look for a configuration file that can name programs.
  'HOME', 'USERPROFILE', 'XDG_CONFIG_HOME', 'XDG_CONFIG_DIRS', 'XDG_DATA_HOME', 'XDG_DATA_DIRS',
];

/**
 * Keys of model providers that `PROVIDER_NAMES` does not cover. No program inherits them unless the user's configuration
 * allows it. A leading `*` matches any beginning.
 */
export const CREDENTIAL_NAMES: readonly string[] = [
  '*_API_KEY',
  'COPILOT_GITHUB_TOKEN',
  'AWS_BEARER_TOKEN_BEDROCK',
  'VERCEL_OIDC_TOKEN',
];

/**
 * Names of model providers, as programs put them before a word such as `KEY` or `TOKEN` in the name of a variable.
 * Programs do not agree on the whole name, so every such combination counts as a key.
 */
// biome-ignore format: with one name per line, the groups would be lost
export const PROVIDER_NAMES: readonly string[] = [
  'OPENAI', 'AZURE_OPENAI', 'AZURE_INFERENCE', 'AZURE_AI', 'ANTHROPIC', 'CLAUDE', 'CODEX', 'GEMINI', 'VERTEX',
  'GOOGLE_GENERATIVE_AI', 'BEDROCK', 'MISTRAL', 'COHERE', 'GROQ', 'XAI', 'GROK', 'DEEPSEEK', 'DEEPINFRA',
  'TOGETHER', 'TOGETHERAI', 'FIREWORKS', 'PERPLEXITY', 'PPLX', 'REPLICATE', 'HF', 'HUGGINGFACE', 'HUGGINGFACEHUB',
  'HUGGING_FACE', 'FAL', 'JINA', 'QIANFAN', 'VOYAGE', 'CEREBRAS', 'SAMBANOVA', 'OPENROUTER', 'MOONSHOT', 'KIMI',
  'ZHIPU', 'ZHIPUAI', 'ZAI', 'DASHSCOPE', 'QWEN', 'BAICHUAN', 'MINIMAX', 'HUNYUAN', 'STEPFUN',
  'BASETEN', 'AI21', 'WATSONX', 'LITELLM', 'GIGACHAT', 'FRIENDLI', 'CLARIFAI', 'STABILITY', 'ELEVENLABS',
  'ASSEMBLYAI', 'DEEPGRAM', 'ALEPH_ALPHA', 'NOMIC', 'UPSTAGE', 'NOVITA', 'HYPERBOLIC', 'NEBIUS', 'NVIDIA_NIM',
  'LAMBDA_LABS', 'PORTKEY', 'HELICONE', 'OLLAMA', 'VLLM', 'WATSON', 'CHUTES', 'LEPTON', 'PREDIBASE', 'OCTOAI',
  'NLPCLOUD', 'GITHUB_MODELS', 'AICORE', 'AI_GATEWAY', 'SILICONFLOW', 'MODELSCOPE', 'ANYSCALE', 'REKA', 'WRITER',
];

/**
 * Patterns of words in the name of a variable that holds a secret. A word such as `APIKEY` is written without an
 * underscore by some programs.
 */
export const SECRET_WORDS: readonly string[] = [
  '[A-Z]*KEYS?',
  '[A-Z]*TOKENS?',
  '[A-Z]*SECRETS?',
  'PASSWORD',
  'PAT',
  'AUTH',
  'CREDENTIALS?',
  'HEADERS',
  'AK',
  'SK',
];

/**
 * Names of variables with keys of cloud services. Command lines of these services need them, so programs inherit them,
 * although the names end like keys of model providers.
 */
export const CLOUD_NAMES: readonly string[] = [
  'CLOUDFLARE_API_KEY',
  'EXOSCALE_API_KEY',
  'HEROKU_API_KEY',
  'IBMCLOUD_API_KEY',
  'RENDER_API_KEY',
  'VULTR_API_KEY',
];
