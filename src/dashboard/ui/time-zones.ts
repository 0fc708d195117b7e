import { rawTimeZones } from '@vvo/tzdb'
import { displayNames } from '../language/format.ts'

/** A time zone with its well-known places. */
export interface TimeZoneOption {
  value: string
  label: string
  /** Large cities, and the country in the language of the reader. */
  places: string
}

/** Lists all time zones by the name that servers support, plus the current one under any name. */
export function listTimeZones(current: string): TimeZoneOption[] {
  const regions = displayNames({ type: 'region' })
  const known = rawTimeZones.map(({ name, mainCities, countryCode }) =>
    toOption(name, [...mainCities, regions.of(countryCode) ?? ''].join(', ')),
  )
  const others = ['UTC', current].filter((name, index, all) => name !== '' && all.indexOf(name) === index)
  return [
    ...others.filter((name) => !known.some(({ value }) => value === name)).map((name) => toOption(name, '')),
    ...known,
  ]
}

function toOption(name: string, places: string): TimeZoneOption {
  return { value: name, label: name, places }
}

/** Finds zones by each word of a search, with or without accents. `Canarias` also finds `Gran Canaria`. */
export function findTimeZones(zones: readonly TimeZoneOption[], search: string): TimeZoneOption[] {
  const words = simplify(search)
    .split(' ')
    .map((word) => word.replace(/as$/, 'a'))
  return zones.filter(({ value, places }) => {
    const text = simplify(`${value} ${places}`)
    return words.every((word) => text.includes(word))
  })
}

function simplify(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[\s/_,-]+/g, ' ')
    .toLowerCase()
    .trim()
}
