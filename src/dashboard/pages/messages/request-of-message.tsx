import { t } from '@lingui/core/macro'
import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'

/** A link to the API request that sent the message. Test messages have none. */
export function RequestOfMessage({ messageId }: { messageId: string }) {
  const { accountId } = useAccount()
  const { data, isError } = useQuery({
    queryKey: ['requests', accountId, 'of-message', messageId],
    queryFn: ({ signal }) => api.request.list.query({ accountId, search: messageId }, { signal }),
    // Requests are recorded about a second after their response.
    refetchInterval: ({ state }) =>
      state.data?.items.length === 0 && state.dataUpdateCount < maxReads ? readMilliseconds : false,
  })
  // The oldest request: later ones are retries with the same idempotency key.
  const first = data?.items.at(-1)
  if (first)
    return (
      <Anchor component={Link} to={`/${accountId}/requests?request=${first.requestId}`} inherit>
        {first.requestId}
      </Anchor>
    )
  return (
    <Text span inherit c="dimmed">
      {data ? t`Not recorded` : isError ? t`Not available` : '…'}
    </Text>
  )
}

const readMilliseconds = 1_000
const maxReads = 5
