//go:build !unix

package peertest

import "os/exec"

func ownGroup(*exec.Cmd) {}

// terminate ends cmd: there is no polite way here.
func terminate(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
