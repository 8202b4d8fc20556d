/** Highlighted languages by name: fence info strings and file extensions. C++ uses the C grammar, which is a twentieth of its size. */
const NAMES: Readonly<Record<string, string>> = {
  bash: 'bash sh zsh shell shellscript console',
  c: 'c h cpp c++ cc hpp cxx',
  csharp: 'csharp cs c#',
  diff: 'diff patch',
  docker: 'docker dockerfile',
  go: 'go golang',
  graphql: 'graphql gql',
  html: 'html htm xhtml',
  ini: 'ini properties cfg conf',
  javascript: 'javascript js mjs cjs',
  json: 'json jsonc json5 jsonl webmanifest',
  kotlin: 'kotlin kt kts',
  make: 'make makefile mk',
  markdown: 'markdown md mdc',
  powershell: 'powershell ps ps1 psm1 pwsh',
  python: 'python py pyi',
  ruby: 'ruby rb',
  rust: 'rust rs',
  scala: 'scala sc',
  terraform: 'terraform tf tfvars hcl',
  tsx: 'tsx jsx',
  typescript: 'typescript ts mts cts',
  xml: 'xml svg xsd csproj',
  yaml: 'yaml yml',
}
/** Those that have one name. */
const PLAIN = 'bicep css java lua php r sql swift toml'
const BY_NAME = new Map(
  [...Object.entries(NAMES), ...PLAIN.split(' ').map((name) => [name, name] as const)].flatMap(([language, names]) =>
    names.split(' ').map((name) => [name, language] as const),
  ),
)

/** The language a fence names in its first word; null when it is none that is highlighted. */
export function languageOfFence(info: string): string | null {
  return BY_NAME.get(/^[^\s{,]*/.exec(info.trim())?.[0].toLowerCase() ?? '') ?? null
}

/** The language of a file, by the end of its name or, for some, by the whole. */
export function languageOfFile(filename: string): string | null {
  const name = filename.split('/').at(-1)?.toLowerCase() ?? ''
  return BY_NAME.get(name.slice(name.lastIndexOf('.') + 1)) ?? null
}
