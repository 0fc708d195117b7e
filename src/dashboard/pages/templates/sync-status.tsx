import { Text } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { ChangeButton } from '../../ui/change-button.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { useSync, type SyncResult } from './use-sync.ts'
import { useTemplateLinks } from './use-template-links.ts'
import { useTemplates } from './use-templates.ts'

/** When the templates were last read from WhatsApp, and a button that does it now. */
export function SyncStatus() {
  const sync = useSync({ done: describe })
  const { whatsAppAccountId } = useTemplateLinks()
  const syncedAt = useTemplates(whatsAppAccountId).data?.syncedAt
  return (
    <>
      {syncedAt !== undefined && (
        <Text size="sm" c="dimmed">
          Last synced <DateTime at={syncedAt} />
        </Text>
      )}
      <ChangeButton leftSection={<IconRefresh size={16} />} loading={sync.isPending} onClick={() => sync.mutate()}>
        Sync now
      </ChangeButton>
    </>
  )
}

function describe({ synced, approved }: SyncResult): string {
  if (synced === 0) return 'WhatsApp has no templates of yours.'
  return `Read ${synced} ${synced === 1 ? 'template' : 'templates'} from WhatsApp, ${approved} approved.`
}
