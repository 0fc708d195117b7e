import { request } from 'undici'
import type { Callbacks } from './target.ts'

export interface ArrivalOptions {
  /** One status per callback and no more callbacks than messages. */
  callbacks: Callbacks
  perSecond: number
  count: number
}

/** Milliseconds from sending a status to receiving its webhook. */
export interface ArrivalResult {
  p50: number
  p99: number
}

/** `url`: the address of an `arrivals.ts` process, which receives the webhooks. */
export async function measureArrivals(url: string, options: ArrivalOptions): Promise<ArrivalResult> {
  const { body } = await request(`${url}/measure`, { method: 'POST', body: JSON.stringify(options) })
  return (await body.json()) as ArrivalResult
}
