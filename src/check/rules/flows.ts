/** A text as a pattern that matches it. */
export const escapeText = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
const split = (lines: readonly string[]) => lines.flatMap((line) => line.split(' '))

/** One of some words, each whole, as the source of a pattern. */
const wordsOf = (...lines: readonly string[]) =>
  split(lines)
    .map((word) => `${/^\w/.test(word) ? '\\b' : ''}${escapeText(word)}${/\w$/.test(word) ? '\\b' : ''}`)
    .join('|')

/** A call of one of some functions. */
const callsOf = (...lines: readonly string[]) => `\\b(?:${split(lines).map(escapeText).join('|')})\\s*\\(`

/** One of some patterns. */
const oneOf = (...patterns: readonly RegExp[]) => patterns.map(({ source }) => source).join('|')

/** Parts of paths as shells, programs and texts join them. */
const JOINED = '[/\\\\"\', ]{1,4}'
/** One of some paths: `/` joins their parts, and `*` is any word. */
const pathsOf = (...lines: readonly string[]) =>
  split(lines)
    .map((path) => escapeText(path).replaceAll('\\/', JOINED).replaceAll('\\*', '\\w+'))
    .join('|')

/** Files that hold credentials, as far as their paths say so. */
export const PRIVATE_PATH = `(?:${[
  oneOf(/\.ssh\b(?:[/\\"', ]{1,4}(?:id_\w+|\*|config|known_hosts))?/, /\.(?:netrc|pgpass|gnupg)\b/),
  pathsOf(
    '.aws/credentials .docker/config.json .kube/config .git-credentials .azure/* .vault-token terraform.d/credentials .my.cnf',
    'gcloud/application_default_credentials gcloud/credentials gcloud/legacy_credentials gcloud/access_tokens .config/gcloud',
    'application_default_credentials.json gh/hosts.yml .claude/.credentials .codex/auth.json .m2/settings.xml .gem/credentials',
    '.cargo/credentials .composer/auth.json kubernetes.io/serviceaccount/token',
  ),
  oneOf(/\.config[/\\"', ]{1,4}(?:op|rclone|hub)\b/, /\bid_(?:rsa|ed25519|ecdsa|dsa)\b(?!\.pub)/),
  // Who writes one of these keeps a token.
  oneOf(/(?<!>\s?["']?(?:~|\$HOME|\$\{HOME\})?\/?)\.(?:npmrc|pypirc)\b/),
].join('|')})`

/** Reads of what should stay with its user. */
export const SOURCE = new RegExp(
  [
    `(?<!(?:>|\\btee(?:\\s-a)?\\s)\\s?["']?(?:~|\\$HOME|\\$\\{HOME\\})?/?)${PRIVATE_PATH}`,
    // Files by what their names say.
    oneOf(
      /(?:\b(?:cat|base64|type|gc|Get-Content|cp|scp|tar|zip|gzip|xxd|open|readFile\w*|read_text|Path|files?)\b|gist\s+create|\bcurl|\bwget|\brsync|\bs3 cp|\bgsutil|\bnc|\brclone|[@<])[^\n]{0,60}\.env(?:\.(?:local|production|prod))?\b(?!\.(?:example|sample|template|d\b))/,
      /(?:\b(?:cat|base64|open|readFile\w*|Path|File\.read|Get-Content)\b|[@<])[^\n]{0,40}\b(?:secrets?|passwords?|api[-_]?keys?|private[-_]?keys?)\.(?:txt|json|ya?ml|csv|key|pem)\b/,
    ),
    // Stores of passwords.
    wordsOf(
      '/etc/passwd /etc/shadow key4.db logins.json Cookies.binarycookies wallet.dat find-generic-password find-internet-password',
      'dump-keychain keyring.get_password',
    ),
    oneOf(/\bLogin Data\b/, /\bLocal Extension Settings\b/),
    // All of the environment, and not single variables.
    wordsOf('printenv /proc/self/environ ENV.to_h ENV.to_a ENV.each'),
    oneOf(
      /(?:^|[\s;|&(`])env\s*(?:[|>;)`]|$)/,
      /\$\(\s*(?:env|printenv|set)\s*\)/,
      /\bdict\(\s*os\.environ/,
      /\bjson\.dumps\([^\n]{0,40}os\.environ(?!\s*[[.]g?)/,
      /\bos\.environ(?:\.(?:items|copy)\(|\s*[,)}]|\s*$)/,
      /\bin\s+os\.environ\b(?!\.get)/,
      /\bJSON\.stringify\([^\n]{0,40}process\.env(?!\.)/,
      /\bObject\.(?:entries|keys|assign)\([^\n]{0,20}process\.env(?!\.)/,
      /\{\s*\.\.\.process\.env/,
      /\benv:\s*process\.env\b(?!\.)/,
      /\bfor\b[^\n]{0,60}\bprocess\.env\b(?!\.)/,
      /\b(?:Get-ChildItem|gci)\s+env:/,
      /\$ENV\{/,
    ),
    // Credentials of a machine in a cloud.
    wordsOf('169.254.169.254 metadata.google.internal'),
    // Histories, clipboards, keys and screens.
    wordsOf(
      '.bash_history .zsh_history ConsoleHost_history pbpaste Get-Clipboard pyperclip.paste navigator.clipboard.readText document.cookie',
      'pynput keyboard.Listener keyboard.on_press keyboard.hook GetAsyncKeyState pyautogui.screenshot ImageGrab.grab',
    ),
    oneOf(/\bxclip\s+-o/, /\bscreencapture\s+-/),
    // A repository that goes on into a pipe.
    oneOf(/\bgit\s+(?:diff|log\s+-p|archive|bundle)\b[^\n]{0,60}\|/),
  ].join('|'),
  'gim',
)

/** Requests that send something to another machine. In the case that they are written in: `curl -F` sends a form, `curl -f` nothing. */
export const SINK = new RegExp(
  [
    // Clients of shells.
    oneOf(
      /\bcurl\b[^\n]{0,300}(?:\s-\w{0,6}[dFT]\s?\S|--data\S*|--form|--upload-file|--json|(?:-X|--request)[\s=]{0,2}["']?(?:POST|PUT|post|put)|\$\(|`)/,
      /https?:[^\n]{3,300}\s--(?:data(?:-\w+)?|upload-file)[ =]/,
      /\s--(?:data(?:-\w+)?|upload-file|form)[ =][^\n]{1,200}https?:/,
      /\bwget\b[^\n]{0,200}--(?:post-(?:data|file)|body-(?:data|file)|method=[Pp])/,
      /\b[Ii]nvoke-(?:[Rr]est[Mm]ethod|[Ww]eb[Rr]equest)\b[^\n]{0,200}-(?:[Bb]ody|[Ii]n[Ff]ile|[Mm]ethod\s+["']?[Pp])/,
    ),
    // Clients of programs.
    callsOf(
      'requests.post requests.put requests.request requests.patch httpx.post httpx.put axios http.request https.request sendBeacon',
      'createConnection UploadString UploadFile UploadData',
    ),
    wordsOf(
      'http.client.HTTPConnection http.client.HTTPSConnection urllib3.PoolManager urllib3.request aiohttp.ClientSession',
      'requests.Session axios.post axios.put got.post Net::HTTP.post Net::HTTP.new Net::HTTP.start',
    ),
    oneOf(
      /\burllib\.request\.(?:Request|urlopen)\s*\([^\n]{0,200}data\s*=/,
      /\burlopen\([^\n]{0,200}(?:data=|\+|\{|%)/,
      /\bfetch\s*\([^\n]{0,200}(?:method\s*:|body\s*:|\?\w*=)/,
      /\bmethod\s*[:=]\s*["'](?:POST|PUT|post|put)["']/,
      /\.request\(\s*["'](?:POST|PUT)["']/,
      /\bnew\s+(?:WebSocket\s*\(|Image\s*\(\s*\)[^\n]{0,40}\.src)/,
    ),
    // Connections.
    oneOf(
      /(?:\||<)[^\n]{0,80}\b(?:nc|ncat|netcat|telnet)\s+(?:-\S+\s+)*[\w.-]{3,}/,
      /\b(?:nc|ncat)\s+(?:-\S+\s+)*[\w.-]{3,80}\s+\d{2,5}\b/,
      /\bsocket\.(?:create_connection|connect)\b(?!\(\s*\(\s*["'](?:localhost|127\.|::1))/,
      /\.connect(?:_ex)?(?!\(\s*\(\s*["'](?:localhost|127\.|::1))\(\s*\(\s*["'\w]/,
      /\/dev\/(?:tcp|udp)\//,
    ),
    // Copies of files, mail, and names that carry data.
    oneOf(
      /\bscp\s+[^\n]{1,200}\S+@?\S+:/,
      /\brsync\s+[^\n]{1,200}\s\S+(?:@\S+)?:(?!\/\/)/,
      /\bsftp\b[^\n]{0,100}@/,
      /\bftp(?:lib)?\b[^\n]{0,60}\b(?:put|STOR|storbinary)\b/,
      /\baws\s+s3\s+cp\b[^\n]{0,160}s3:\/\//,
      /\bgsutil\s+cp\b[^\n]{0,160}gs:\/\//,
      /\brclone\s+(?:copy|sync)\b/,
      /\bgh\s+gist\s+create\b/,
      /\bgit\s+push\s+(?:-\S+\s+)*(?:https?:|git@|ssh:)/,
      /\bgit\s+remote\s+(?:add|set-url)\b/,
      /\bsmtplib\.|\bsendmail\b|\b(?:mail|mutt)\s+-s\b/,
      /(?<![-\w.])(?:dig|nslookup|host|ping|resolvectl)\s[^\n]{0,120}(?:\$\(|`|\$\{?\w)/,
      /\b(?:gethostbyname|getaddrinfo|dns\.(?:resolve\w*|lookup)|Resolve-DnsName)\s*\(?[^\n]{0,100}(?:\+|\{|\$)/,
    ),
  ].join('|'),
  'g',
)
