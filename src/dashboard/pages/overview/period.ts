/** In days, today included. */
export const periods = [7, 30, 90] as const
export type Period = (typeof periods)[number]

const usual = 30

/** The period lives in the address: a reload, the way back and a shared link show the same. */
export function readPeriod(search: URLSearchParams): Period {
  return periods.find((days) => String(days) === search.get('days')) ?? usual
}

export function writePeriod(before: URLSearchParams, days: string): URLSearchParams {
  const search = new URLSearchParams(before)
  search.set('days', days)
  return search
}
