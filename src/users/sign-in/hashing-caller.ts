import { AsyncLocalStorage } from 'node:async_hooks'

/** The caller of a request to better-auth, which passes none to the functions that hash passwords. */
const callers = new AsyncLocalStorage<{ isKnown: boolean }>()

/** Handles a request whose caller is unknown until `recognizeCaller` is called. */
export function asUnknownCaller<Result>(work: () => Result): Result {
  return callers.run({ isKnown: false }, work)
}

/** Call it for a caller who has a session, or who is where the user has signed in before. */
export function recognizeCaller(): void {
  const caller = callers.getStore()
  if (caller) caller.isKnown = true
}

/** Apart from the requests to better-auth, whoever has a password hashed has a session or a valid link. */
export function isCallerKnown(): boolean {
  return callers.getStore()?.isKnown ?? true
}
