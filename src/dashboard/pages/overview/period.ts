import { msg, t } from '@lingui/core/macro'
import { dayMilliseconds } from '../../../../contracts/time.ts'
import { translate } from '../../language/i18n.ts'
import type { DayRange } from '../../../../contracts/dashboard/overview.ts'
import { describeDay } from '../../ui/time.ts'
import { abbreviateDay } from './statistics.ts'

/** Periods that end now. */
export const presets = [
  { value: '24h', label: msg`24 hours` },
  { value: '7', label: msg`7 days` },
  { value: '30', label: msg`30 days` },
  { value: '90', label: msg`90 days` },
] as const

/** Calendar periods in the account's time zone. */
export const calendarPresets = [
  { value: 'thisMonth', label: msg`This month` },
  { value: 'previousMonth', label: msg`Last month` },
  { value: 'previousWeek', label: msg`Last week` },
] as const
type CalendarPreset = (typeof calendarPresets)[number]['value']
export type Preset = (typeof presets)[number]['value'] | CalendarPreset

export interface Selection {
  /** Undefined if `period` is set. */
  preset: Preset | undefined
  period: DayRange | undefined
  /** Undefined for the previous period. */
  compareWith: DayRange | undefined
}

const defaultPreset: Preset = '30'

/** Reads the selection from the URL, where it survives reloads and can be shared. */
export function readSelection(search: URLSearchParams): Selection {
  const period = readRange(search, 'from', 'until')
  const named = search.get('hours') === '24' ? '24h' : (search.get('days') ?? search.get('calendar'))
  const preset = [...presets, ...calendarPresets].find(({ value }) => value === named)?.value ?? defaultPreset
  return {
    preset: period ? undefined : preset,
    period,
    compareWith: readRange(search, 'compareFrom', 'compareUntil'),
  }
}

function readRange(search: URLSearchParams, fromName: string, untilName: string): DayRange | undefined {
  const range = { from: search.get(fromName) ?? '', until: search.get(untilName) ?? '' }
  return checkRange(range) === undefined ? range : undefined
}

export function writeSelection({ preset, period, compareWith }: Selection): URLSearchParams {
  const search = new URLSearchParams()
  if (period) {
    search.set('from', period.from)
    search.set('until', period.until)
  } else if (preset === '24h') search.set('hours', '24')
  else if (isCalendar(preset)) search.set('calendar', preset)
  else search.set('days', preset ?? defaultPreset)
  if (compareWith) {
    search.set('compareFrom', compareWith.from)
    search.set('compareUntil', compareWith.until)
  }
  return search
}

function isCalendar(preset: Preset | undefined): preset is CalendarPreset {
  return calendarPresets.some(({ value }) => value === preset)
}

/** The description of a date range or calendar period; undefined for other presets. */
export function describeDates({ preset, period }: Selection): string | undefined {
  if (period) return describeRange(period)
  const calendar = calendarPresets.find(({ value }) => value === preset)
  return calendar && translate(calendar.label)
}

/** The selection as input of `overview.get`. */
export function toInput({ preset, period, compareWith }: Selection) {
  const days = ([7, 30, 90] as const).find((count) => String(count) === preset)
  return {
    ...(preset === '24h' && { hours: 24 as const }),
    ...(isCalendar(preset) && { calendar: preset }),
    ...(days !== undefined && { days }),
    ...(period && { period }),
    ...(compareWith && { compareWith }),
  }
}

/** The server has the same limit. */
const maxDays = 92

/** Returns the problem of a range, if any. */
export function checkRange({ from, until }: DayRange): string | undefined {
  if (!isDay(from) || !isDay(until)) return t`Enter both dates.`
  if (until < from) return t`The last day is before the first.`
  if (countDays({ from, until }) > maxDays) return t`Choose ${maxDays} days at most.`
  return undefined
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}

function countDays({ from, until }: DayRange): number {
  return Math.round((Date.parse(until) - Date.parse(from)) / dayMilliseconds) + 1
}

/** `Nov 1 – Nov 22, 2026` */
export function describeRange({ from, until }: DayRange): string {
  return from === until ? describeDay(from) : `${abbreviateDay(from)} – ${describeDay(until)}`
}
