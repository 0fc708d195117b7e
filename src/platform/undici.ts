/**
 * The parts of undici that a server uses, imported from their own files: its index also loads `fetch`, WebSocket, caches
 * and mocks, which are a megabyte of source and 80 more modules.
 */
import type { Dispatcher } from 'undici'
import request from 'undici/lib/api/api-request.js'
import buildConnector from 'undici/lib/core/connect.js'
import errors from 'undici/lib/core/errors.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Pool from 'undici/lib/dispatcher/pool.js'

export { Agent, buildConnector, errors, Pool }

/** `dispatcher.request`, which undici's index adds to dispatchers. */
export function requestThrough(
  dispatcher: Dispatcher,
  options: Dispatcher.RequestOptions,
): Promise<Dispatcher.ResponseData> {
  return request.call(dispatcher, options)
}
