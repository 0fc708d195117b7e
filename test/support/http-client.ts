import { Agent, setGlobalDispatcher } from 'undici'

/*
 * Closes idle connections of tests long before a server does. undici counts the time that a server promises in ticks, which
 * are late in a busy process: a request on a connection that had been idle for a minute could meet its end (ECONNRESET).
 */
setGlobalDispatcher(new Agent({ keepAliveMaxTimeout: 4_000 }))
