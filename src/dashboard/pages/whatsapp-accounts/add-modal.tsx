import { Modal } from '@mantine/core'
import { useState } from 'react'
import { AddForm } from './add-form.tsx'
import { AddedStep } from './added-step.tsx'

interface AddModalProps {
  opened: boolean
  /** The first one is the default, whoever asks. */
  isFirst: boolean
  onClose: () => void
}

export function AddModal({ opened, isFirst, onClose }: AddModalProps) {
  const [isAdded, setAdded] = useState(false)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setAdded(false)}
      title={isAdded ? 'WhatsApp account added' : 'Add a WhatsApp account'}
      size="lg"
      // A click beside it would lose what was pasted.
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {isAdded ? (
        <AddedStep onClose={onClose} />
      ) : (
        <AddForm isFirst={isFirst} onAdded={() => setAdded(true)} onCancel={onClose} />
      )}
    </Modal>
  )
}
