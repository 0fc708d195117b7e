import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { sendMessage } from '../../../../contracts/api/message.ts'
import type { ApiRequestDetails } from '../../../../contracts/dashboard/request.ts'
import { api } from '../../api/client.ts'
import { useAccount } from '../../session/session.ts'
import { CodeBlock, Copyable, CopyButton } from '../../ui/copy.tsx'
import { LogTime } from '../../ui/date-time.tsx'
import { DescriptionList } from '../../ui/lists.tsx'
import { Drawer } from '../../ui/dialog.tsx'
import { ErrorAlert } from '../../ui/placeholders.tsx'
import { quoteForShell } from '../../ui/quote-for-shell.ts'
import { DetailsSkeleton } from '../../ui/skeletons.tsx'
import { describeDuration } from '../../ui/time.ts'
import { HttpStatus } from './requests-table.tsx'
import { TextLink } from '../../ui/button.tsx'

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
      title={t`API request`}
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
  return error ? <ErrorAlert error={error} onRetry={() => refetch()} /> : <DetailsSkeleton items={8} />
}

function Details({ request }: { request: ApiRequestDetails }) {
  const { accountId } = useAccount()
  const { errorCode, externalId, messageIds } = request
  return (
    <Stack gap="lg">
      <DescriptionList
        items={[
          { name: t`Request ID`, value: <Copyable label={t`request ID`} value={request.requestId} /> },
          { name: t`Time`, value: <LogTime at={request.at} /> },
          { name: t`Call`, value: `${request.method} ${request.path}` },
          { name: t`Status`, value: <HttpStatus request={request} /> },
          errorCode !== undefined && { name: t`Error code`, value: <ErrorCode code={errorCode} /> },
          { name: t`Duration`, value: describeDuration(request.durationMilliseconds) },
          { name: t`API key`, value: `${request.keyStart}…` },
          { name: t`Address`, value: request.address },
          externalId !== undefined && {
            name: t`External ID`,
            value: <Copyable label={t`external ID`} value={externalId} />,
          },
          ...messageIds.map((messageId) => ({
            id: messageId,
            name: t`Message`,
            value: (
              <TextLink to={`/${accountId}/messages/${messageId}`} inherit>
                {messageId}
              </TextLink>
            ),
          })),
        ]}
      />
      {errorCode !== undefined && (
        <Group>
          <CopyButton text={() => toCurl(request, window.location.origin)} label={t`Copy as curl`} />
        </Group>
      )}
      {request.request !== undefined && <Body title={t`Request`} text={request.request} />}
      {request.answer !== undefined && <Body title={t`Response`} text={request.answer} />}
      <Text size="sm" c="dimmed">
        <BodiesNote request={request} />
      </Text>
    </Stack>
  )
}

function BodiesNote({ request: { method, errorCode, request, answer } }: { request: ApiRequestDetails }) {
  if (errorCode === undefined) return <Trans>The request and the response are kept for failures only.</Trans>
  if (request !== undefined) return <Trans>Codes, variables and secrets are hidden.</Trans>
  if (answer === undefined) return <Trans>The request and the response were not kept.</Trans>
  if (method === 'GET') return null
  return (
    <Trans>
      The body of the request was not kept: it was a file, too large, rejected before it was read, or one of too many
      failures in that minute.
    </Trans>
  )
}

/** Links to the documentation page of the error code. */
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

/** The request as a curl command. Redacted values stay redacted; the key is a shell variable. */
function toCurl({ requestId, method, path, request }: ApiRequestDetails, origin: string): string {
  const key = '-H "X-API-Key: $WAYBILL_API_KEY"'
  if (method === 'GET') return ['curl -G ' + quoteForShell(origin + path), key, ...listQuery(request)].join(' \\\n  ')
  return [
    `curl -X ${method} ${quoteForShell(origin + path)}`,
    key,
    ...(path === sendMessage.path ? [`-H "Idempotency-Key: again-${requestId}"`] : []),
    ...(request === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${quoteForShell(request)}`]),
  ].join(' \\\n  ')
}

/** Queries are stored as JSON. A truncated one is not valid JSON and is omitted. */
function listQuery(request: string | undefined): string[] {
  try {
    const query: unknown = JSON.parse(request ?? '{}')
    return Object.entries(query ?? {}).map(([name, value]) =>
      ['--data-urlencode', quoteForShell(`${name}=${String(value)}`)].join(' '),
    )
  } catch {
    return []
  }
}
