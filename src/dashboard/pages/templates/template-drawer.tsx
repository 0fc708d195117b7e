import { Drawer } from '@mantine/core'
import { IconTemplateOff } from '@tabler/icons-react'
import { useState } from 'react'
import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { TemplateDetails } from './template-details.tsx'
import type { TemplateName } from './use-template-links.ts'

interface TemplateDrawerProps {
  opened: TemplateName | undefined
  templates: OwnTemplate[]
  whatsAppAccountId: string | undefined
  onClose: () => void
}

export function TemplateDrawer({ opened, templates, whatsAppAccountId, onClose }: TemplateDrawerProps) {
  // One's own number is the same for every template that one tries.
  const [to, setTo] = useState('')
  const template = templates.find(({ name, language }) => name === opened?.name && language === opened.language)
  return (
    <Drawer
      opened={opened !== undefined}
      onClose={onClose}
      position="right"
      size="min(960px, 100%)"
      padding="lg"
      title={opened?.name}
      closeButtonProps={{ 'aria-label': 'Close' }}
      styles={{ title: { fontWeight: 650, fontSize: '1.125rem', overflowWrap: 'anywhere' } }}
    >
      {template && (
        <TemplateDetails
          key={`${template.name} ${template.language}`}
          template={template}
          whatsAppAccountId={whatsAppAccountId}
          to={to}
          onTo={setTo}
        />
      )}
      {opened && !template && (
        <EmptyState icon={IconTemplateOff} title="There is no such template">
          This WhatsApp account has no template {opened.name} in {opened.language || 'this language'}. It may have been
          deleted, or belong to another WhatsApp account.
        </EmptyState>
      )}
    </Drawer>
  )
}
