import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { webhooksKey } from './use-endpoints.ts'

export interface RedeliveryChoice {
  since: string
  /** Only deliveries that failed with this error. */
  error?: string
  includeWaiting: boolean
}

export interface Redelivery {
  kind: 'running' | 'stopped' | 'done' | 'failed'
  since: string
  /** The start of the redelivery, up to which events are checked. */
  until: string
  reachedAt: string
  recovered: number
  error?: unknown
}

/** Redelivers part by part while the dialog is open. Queued deliveries stay queued if it is interrupted. */
export function useRedelivery(endpointId: string) {
  const { accountId } = useAccount()
  const queryClient = useQueryClient()
  const [redelivery, setRedelivery] = useState<Redelivery>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])

  const begin = async (choice: RedeliveryChoice) => {
    running.current?.abort()
    const { signal } = (running.current = new AbortController())
    const { since } = choice
    const until = new Date().toISOString()
    let state: Redelivery = { kind: 'running', since, until, reachedAt: since, recovered: 0 }
    const show = (changes: Partial<Redelivery>) => {
      state = { ...state, ...changes }
      setRedelivery(state)
    }
    show({})
    try {
      let next: string | undefined
      do {
        // The server finishes the current part even after a stop, so it is counted.
        const part = await api.webhook.recover.mutate({ accountId, endpointId, ...choice, ...(next && { next }) })
        next = part.next
        show({ recovered: state.recovered + part.recovered, reachedAt: part.reachedAt })
      } while (next !== undefined && !signal.aborted)
      show({ kind: next === undefined ? 'done' : 'stopped' })
    } catch (error) {
      show({ kind: 'failed', error })
    }
    await queryClient.invalidateQueries({ queryKey: webhooksKey(accountId) })
  }
  return { redelivery, begin, stop: () => running.current?.abort() }
}
