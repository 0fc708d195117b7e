import { t } from '@lingui/core/macro'
import { ActionIcon, Box, Drawer, Group, Paper, Stack, Text, Title, Tooltip } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconArrowsDiagonal, IconX } from '@tabler/icons-react'
import { type ReactNode, useDeferredValue, useEffect, useId, useRef } from 'react'
import { Link, useLocation } from 'react-router'
import { useAccount } from '../../../session/session.ts'
import { LogTimeWithAge } from '../../../ui/date-time.tsx'
import { DrawerRoot } from '../../../ui/dialog.tsx'
import { LoadingSkeleton } from '../../../ui/placeholders.tsx'
import { showRecipient } from '../../../ui/phone-number.ts'
import { MessageStatusBadge } from '../message-status.tsx'
import { MessageTimeline } from '../message-timeline.tsx'
import { readPanelState } from '../use-log-address.ts'
import { FailureAlert, MessageProblem, UnknownOutcomeAlert } from './message-alerts.tsx'
import { MessageActions } from './message-actions.tsx'
import { MessageDeliveries } from './message-deliveries.tsx'
import { MessageDetails } from './message-details.tsx'
import styles from './message-panel.module.css'
import { SentPreview } from './sent-preview.tsx'
import { type MessageHistory, useMessage } from './use-message.ts'

/** Minimum width at which the list and the panel fit side by side. */
const wideScreen = '(min-width: 80em)'

/** Whether the panel is next to the list instead of covering it. */
export function useIsBeside(): boolean {
  return useMediaQuery(wideScreen, true, { getInitialValueInEffect: false })
}

interface MessagePanelProps {
  messageId: string
  onClose: () => void
  onShow: (messageId: string) => void
}

/** One message next to the log, which stays usable. On a small screen, it covers the log. */
export function MessagePanel({ messageId, onClose, onShow }: MessagePanelProps) {
  const isBeside = useIsBeside()
  const titleId = useId()
  const content = (
    <PanelContent
      key={messageId}
      messageId={messageId}
      titleId={isBeside ? titleId : undefined}
      onClose={onClose}
      onShow={onShow}
    />
  )
  if (isBeside)
    return (
      <Paper component="section" aria-labelledby={titleId} radius={0} className={styles['panel']}>
        {content}
      </Paper>
    )
  return (
    <DrawerRoot opened onClose={onClose} position="right" size="min(560px, 100%)">
      <Drawer.Overlay />
      <Drawer.Content>
        <Drawer.Body p={0}>{content}</Drawer.Body>
      </Drawer.Content>
    </DrawerRoot>
  )
}

interface PanelContentProps extends MessagePanelProps {
  /** Undefined within a drawer, which has its own label. */
  titleId: string | undefined
}

function PanelContent({ messageId, titleId, onClose, onShow }: PanelContentProps) {
  const { data, error, refetch } = useMessage(messageId)
  // Rendered interruptibly, because the log may render at the same time.
  const history = useDeferredValue(data)
  return (
    <>
      <Box className={styles['head']}>
        <Group justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <PanelTitle id={titleId}>{history ? showRecipient(history.message.to) : t`Message`}</PanelTitle>
            {history && <MessageStatusBadge status={history.message.status} />}
          </Group>
          <Group gap={4} wrap="nowrap">
            <FullPageLink messageId={messageId} />
            <Tooltip label={t`Close (Esc)`}>
              <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t`Close`} onClick={onClose}>
                <IconX size={18} />
              </ActionIcon>
            </Tooltip>
          </Group>
        </Group>
        {history && (
          <Text size="sm" c="dimmed" mt={2}>
            <LogTimeWithAge at={history.message.createdAt} />
          </Text>
        )}
      </Box>
      <Box className={styles['body']}>
        {history && <PanelBody history={history} onShow={onShow} />}
        {!history && error && <MessageProblem error={error} onRetry={() => refetch()} />}
        {!history && !error && <LoadingSkeleton lines={8} />}
      </Box>
    </>
  )
}

/** Takes the focus when the user opens the message, but not while they move through the log by keyboard. */
function PanelTitle({ id, children }: { id: string | undefined; children: ReactNode }) {
  const title = useRef<HTMLHeadingElement>(null)
  const { focus } = readPanelState(useLocation().state)
  useEffect(() => {
    if (focus === 'panel') title.current?.focus({ preventScroll: true })
  }, [focus])
  const props = { ref: title, tabIndex: -1, 'data-autofocus': true, className: styles['title'], children }
  return id === undefined ? <Drawer.Title {...props} /> : <Title order={2} id={id} {...props} />
}

function FullPageLink({ messageId }: { messageId: string }) {
  const { accountId } = useAccount()
  const { search } = useLocation()
  return (
    <Tooltip label={t`Open full page`}>
      <ActionIcon
        component={Link}
        to={`/${accountId}/messages/${messageId}`}
        state={{ log: search }}
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t`Open full page`}
      >
        <IconArrowsDiagonal size={18} />
      </ActionIcon>
    </Tooltip>
  )
}

/** Failure advice comes before the actions, because it may say that sending again does not help. */
function PanelBody({ history, onShow }: { history: MessageHistory; onShow: (messageId: string) => void }) {
  const { message } = history
  return (
    <Stack gap="lg">
      <FailureAlert history={history} />
      <UnknownOutcomeAlert message={message} />
      <MessageActions history={history} onSentAgain={onShow} />
      <SentPreview history={history} />
      <Part title={t`Timeline`}>
        <MessageTimeline history={history} />
      </Part>
      <Part title={t`Details`}>
        <MessageDetails message={message} />
      </Part>
      <Part title={t`Webhook deliveries`}>
        <MessageDeliveries history={history} />
      </Part>
    </Stack>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={styles['part']}>
      <Title order={3} size="sm" mb="sm" id={id}>
        {title}
      </Title>
      {children}
    </section>
  )
}
