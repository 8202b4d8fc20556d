/** Settings of earlier versions that have no effect any more, and what to do about each. */
const REMOVED: Readonly<Record<string, string>> = {
  DATABASE_READ_URL: 'All reads go to the server of DATABASE_URL.',
}

/** A sentence for each setting of an environment that has no effect any more. */
export function listRemovedSettings(environment: Readonly<Record<string, string | undefined>> = process.env): string[] {
  return Object.entries(REMOVED).flatMap(([name, instead]) =>
    environment[name] || environment[`${name}_FILE`] ? [`${name} was removed and has no effect. ${instead}`] : [],
  )
}
