/** Deleting an item or its history for good. */
export const PURGE_WORDS = {
  title: 'Delete for good',
  lead: (title: string) => `Deleting “${title}” or a part of it cannot be undone, not even by an administrator.`,
  copies: ({ backups, upgrades, replaced }: { backups: number; upgrades: number; replaced: number }) =>
    [
      ...(backups > 0 ? [`Backups that may still contain it, until newer ones replace them: ${backups}.`] : []),
      ...(upgrades + replaced > 0
        ? [`Older copies of the library that may still contain it, until an administrator deletes them: ${upgrades + replaced}.`]
        : []),
      'Copies made by others or stored elsewhere are not affected.',
    ].join(' '),
  versions: 'Older versions',
  versionsLead: (newest: number) =>
    `Version ${newest} is the newest and stays. As the last one here, it loses its earlier tags and categories. Versions are not renumbered.`,
  first: 'From version',
  last: 'To version',
  deleteVersions: 'Delete these versions for good',
  file: 'A file in older versions',
  fileLead: 'If a secret got into a file: change or remove the file first, then delete its older contents here.',
  filename: 'File name',
  deleteFile: 'Delete its older contents for good',
  all: 'The whole item',
  allLead: 'This deletes every version, vote and file. A public address is never used again.',
  deleteAll: 'Delete the whole item for good',
  sure: 'I understand that this cannot be undone',
  beSure: 'Check the box first: this cannot be undone.',
  link: 'Delete for good',
  linkOf: (title: string) => `Delete ${title} for good`,
  history: 'Delete older versions for good',
}
