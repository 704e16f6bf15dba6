package task

func child(string) {}
