import { msg } from '@lingui/core/macro'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'

/** The prefix of all query keys for the people of an account. */
export function peopleKey(accountId: string) {
  return ['people', accountId]
}

const refreshMilliseconds = 10_000

/** Refreshes, so that whoever accepts an invitation moves from one list to the other. */
export function useMembers() {
  const { accountId } = useAccount()
  return useQuery({
    queryKey: [...peopleKey(accountId), 'members'],
    queryFn: ({ signal }) => api.member.list.query({ accountId }, { signal }),
    refetchInterval: refreshMilliseconds,
  })
}

/** For owners only. Refreshes, so that they see when an email is sent or an invitation accepted. */
export function useInvitations() {
  const { accountId, canChange } = useAccount()
  return useQuery({
    queryKey: [...peopleKey(accountId), 'invitations'],
    queryFn: ({ signal }) => api.member.invitations.query({ accountId }, { signal }),
    enabled: canChange,
    refetchInterval: refreshMilliseconds,
  })
}

export const roleNames = { owner: msg`Owner`, viewer: msg`Viewer` }
