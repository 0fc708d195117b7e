import { Anchor, Drawer, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { ApiRequestDetails } from '../../../../contracts/dashboard/request.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { Copyable, CodeBlock } from '../../ui/copy.tsx'
import { LogTime } from '../../ui/date-time.tsx'
import { DescriptionList } from '../../ui/description-list.tsx'
import { ErrorAlert, LoadingSkeleton } from '../../ui/placeholders.tsx'
import { describeDuration } from '../../ui/time.ts'
import { HttpStatus } from './requests-table.tsx'

interface RequestDrawerProps {
  /** The opened request. */
  requestId: string | undefined
  onClose: () => void
}

export function RequestDrawer({ requestId, onClose }: RequestDrawerProps) {
  return (
    <Drawer
      opened={requestId !== undefined}
      onClose={onClose}
      position="right"
      size="min(640px, 100%)"
      padding="lg"
      title="API request"
      closeButtonProps={{ 'aria-label': 'Close' }}
      styles={{ title: { fontWeight: 650, fontSize: '1.125rem' } }}
    >
      {requestId !== undefined && <RequestDetails key={requestId} requestId={requestId} />}
    </Drawer>
  )
}

function RequestDetails({ requestId }: { requestId: string }) {
  const { accountId } = useAccount()
  const { data, error, refetch } = useQuery({
    queryKey: ['requests', accountId, 'details', requestId],
    queryFn: ({ signal }) => api.request.get.query({ accountId, requestId }, { signal }),
  })
  if (data) return <Details request={data} />
  return error ? <ErrorAlert error={error} onRetry={() => refetch()} /> : <LoadingSkeleton lines={8} />
}

function Details({ request }: { request: ApiRequestDetails }) {
  const { accountId } = useAccount()
  const { errorCode, externalId, messageIds } = request
  return (
    <Stack gap="lg">
      <DescriptionList
        items={[
          { name: 'Request ID', value: <Copyable label="request ID" value={request.requestId} /> },
          { name: 'Time', value: <LogTime at={request.at} /> },
          { name: 'Call', value: `${request.method} ${request.path}` },
          { name: 'Status', value: <HttpStatus request={request} /> },
          ...(errorCode === undefined ? [] : [{ name: 'Error code', value: <ErrorCode code={errorCode} /> }]),
          { name: 'Duration', value: describeDuration(request.durationMilliseconds) },
          { name: 'API key', value: `${request.keyStart}…` },
          { name: 'Address', value: request.address },
          ...(externalId === undefined
            ? []
            : [{ name: 'External ID', value: <Copyable label="external ID" value={externalId} /> }]),
          ...messageIds.map((messageId) => ({
            id: messageId,
            name: 'Message',
            value: (
              <Anchor component={Link} to={`/${accountId}/messages/${messageId}`} inherit>
                {messageId}
              </Anchor>
            ),
          })),
        ]}
      />
      {request.request !== undefined && <Body title="Request" text={request.request} />}
      {request.answer !== undefined && <Body title="Response" text={request.answer} />}
      {errorCode === undefined ? (
        <Text size="sm" c="dimmed">
          The request and the response are kept for failures only.
        </Text>
      ) : (
        request.request !== undefined && (
          <Text size="sm" c="dimmed">
            Codes, variables and secrets are hidden.
          </Text>
        )
      )}
    </Stack>
  )
}

/** Codes of ours have a page in the documentation. */
function ErrorCode({ code }: { code: string }) {
  if (code === 'UNKNOWN') return code
  return (
    <Anchor href={`/docs/errors/${encodeURIComponent(code)}`} target="_blank" inherit>
      {code}
    </Anchor>
  )
}

function Body({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <Title order={3} size="sm" mb="xs">
        {title}
      </Title>
      <CodeBlock label={title} code={text} />
    </div>
  )
}
