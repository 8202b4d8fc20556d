const UNITS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_556_952],
  ['month', 2_629_746],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** Shows how long ago things happened, or the exact time where that was asked for, by the reader's own clock. */
export function showAges(): void {
  const { lang } = document.documentElement
  const relative = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' })
  const exact = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'short' })
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-ago]')) {
    const date = new Date(time.dateTime)
    const seconds = (date.getTime() - Date.now()) / 1000
    const [unit, length] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? ['second', 1]
    time.title = exact.format(date)
    if (time.dataset['ago'] === 'exact') time.textContent = exact.format(date)
    else time.textContent = unit === 'second' ? relative.format(0, 'second') : relative.format(Math.trunc(seconds / length), unit)
  }
}
