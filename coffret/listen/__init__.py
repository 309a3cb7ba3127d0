"""What `coffret listen` is made of: reading events over the API as they happen, and sending them on like webhooks."""
