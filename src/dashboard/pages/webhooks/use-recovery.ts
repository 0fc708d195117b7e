import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { settings } from '../../api/settings.ts'
import { useAccount } from '../../session/account.ts'
import { webhooksKey } from './use-endpoints.ts'

export interface Recovery {
  kind: 'running' | 'stopped' | 'done' | 'failed'
  since: string
  /** When it began: events until then are looked at. */
  until: string
  reachedAt: string
  recovered: number
  error?: unknown
}

/**
 * Asks the server for one part after the other. It goes on for as long as the page is open; what was
 * queued stays queued, however it ends.
 */
export function useRecovery(endpointId: string) {
  const { accountId } = useAccount()
  const queryClient = useQueryClient()
  const [recovery, setRecovery] = useState<Recovery>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const start = async (since: string) => {
    running.current?.abort()
    const { signal } = (running.current = new AbortController())
    const until = new Date().toISOString()
    let state: Recovery = { kind: 'running', since, until, reachedAt: since, recovered: 0 }
    const show = (changes: Partial<Recovery>) => {
      state = { ...state, ...changes }
      setRecovery(state)
    }
    show({})
    try {
      let next: string | undefined
      do {
        // The part that is under way when somebody stops is finished by the server: it is counted too.
        const part = await settings.webhook.recover.mutate({ accountId, endpointId, since, ...(next && { next }) })
        next = part.next
        show({ recovered: state.recovered + part.recovered, reachedAt: part.reachedAt })
      } while (next !== undefined && !signal.aborted)
      show({ kind: next === undefined ? 'done' : 'stopped' })
    } catch (error) {
      show({ kind: 'failed', error })
    }
    await queryClient.invalidateQueries({ queryKey: webhooksKey(accountId) })
  }
  return { recovery, start, stop: () => running.current?.abort() }
}

/** How much of the time was looked at, of 100. */
export function progressOf({ kind, since, until, reachedAt }: Recovery): number {
  if (kind === 'done') return 100
  const whole = Date.parse(until) - Date.parse(since)
  const share = (Date.parse(reachedAt) - Date.parse(since)) / whole
  return Number.isFinite(share) ? Math.min(100, Math.max(0, share * 100)) : 0
}
