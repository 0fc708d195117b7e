import { Text } from '@mantine/core'

interface EndpointUrlProps {
  url: string
  /** Its query often holds a token, and a page is looked at by others too. */
  showQuery?: boolean
}

/** The host first of all: it tells endpoints apart. */
export function EndpointUrl({ url, showQuery = false }: EndpointUrlProps) {
  const { protocol, host, pathname, search } = new URL(url)
  return (
    <span style={{ overflowWrap: 'anywhere' }}>
      <Text span inherit c="dimmed">
        {protocol}
        {'//'}
      </Text>
      <Text span inherit fw={650}>
        {host}
      </Text>
      {pathname !== '/' && pathname}
      {search !== '' && (
        <Text span inherit c="dimmed" {...(!showQuery && { title: 'The query is hidden: it may hold a token.' })}>
          {showQuery ? search : '?…'}
        </Text>
      )}
    </span>
  )
}

export function hostOf(url: string): string {
  return new URL(url).host
}
