import { createRequire } from 'node:module'
import type * as undici from 'undici'

/**
 * The parts of undici that a server uses, from their own files: its index also loads `fetch`, WebSocket, caches and
 * mocks, which are a megabyte of source and 80 more modules.
 */
const load = createRequire(import.meta.url)

export const Agent = load('undici/lib/dispatcher/agent.js') as typeof undici.Agent
export const Pool = load('undici/lib/dispatcher/pool.js') as typeof undici.Pool
export const buildConnector = load('undici/lib/core/connect.js') as typeof undici.buildConnector
export const errors = load('undici/lib/core/errors.js') as typeof undici.errors

type Request = (options: undici.Dispatcher.RequestOptions) => Promise<undici.Dispatcher.ResponseData>
const request = load('undici/lib/api/api-request.js') as Request

/** `dispatcher.request`, which undici's index adds to dispatchers. */
export function requestThrough(
  dispatcher: undici.Dispatcher,
  options: undici.Dispatcher.RequestOptions,
): ReturnType<Request> {
  return request.call(dispatcher, options)
}
