"""`coffret listen`: reads events over the API as they happen and forwards them like webhooks."""
