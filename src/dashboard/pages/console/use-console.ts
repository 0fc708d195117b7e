import { useQuery } from '@tanstack/react-query'
import { numberFormat } from '../../language/format.ts'
import { operatorApi } from '../../api/client.ts'

export const consoleKey = ['console'] as const
export const consoleAccountsKey = ['console', 'accounts'] as const

const refreshMilliseconds = 15_000

export function useServerFacts() {
  return useQuery({
    queryKey: [...consoleKey, 'server'],
    queryFn: ({ signal }) => operatorApi.server.get.query({}, { signal }),
    refetchInterval: refreshMilliseconds,
  })
}

export function useSlowEndpoints() {
  return useQuery({
    queryKey: [...consoleKey, 'slow-endpoints'],
    queryFn: async ({ signal }) => (await operatorApi.server.slowEndpoints.query({}, { signal })).items,
    refetchInterval: 4 * refreshMilliseconds,
  })
}

/** Formats a share; empty if the total is zero. */
export function describeShare(part: number, whole: number): string {
  return whole === 0 ? '' : numberFormat({ style: 'percent', maximumFractionDigits: 1 }).format(part / whole)
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** Formats bytes in decimal units, such as `8.2 MB`. */
export function describeBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const value = bytes / 1000 ** power
  const digits = value < 10 && power > 0 ? 1 : 0
  const format = numberFormat({ minimumFractionDigits: digits, maximumFractionDigits: digits })
  return `${format.format(value)} ${units[power]}`
}
