import { request } from 'undici'
import type { Callbacks } from './target.ts'

export interface ArrivalOptions {
  /** Each with one status; at most as many in all as there are messages. */
  callbacks: Callbacks
  perSecond: number
  count: number
}

/** Milliseconds from sending a status to having its webhook. */
export interface ArrivalResult {
  p50: number
  p99: number
}

/** `url`: of an `arrivals.ts` process, where the webhooks go. */
export async function measureArrivals(url: string, options: ArrivalOptions): Promise<ArrivalResult> {
  const { body } = await request(`${url}/measure`, { method: 'POST', body: JSON.stringify(options) })
  return (await body.json()) as ArrivalResult
}
